"""`silicon sensors`: what an organisation watches, and what it notices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from console.cli.exits import Exit, exit_of
from console.cli.form import to_data
from console.cli.options import As, AsJson, At, Language, Organisation, command, moment
from console.cli.output import Output
from console.cli.render.facts import table
from console.cli.render.live import progress_shown
from console.cli.render.outcome import outcome_data, outcome_lines
from console.cli.session import Session, conduct
from console.cli.words import command_line, measured
from console.cli.words import moment as moment_text
from console.ports import Application
from console.views_sensors import Raised, SensorFailure, SensorRow, SensorsOutcome
from contracts import Signal, SignalKind
from runtime.texts import Say

app = command("List sensors, and let them look.")


@app.command("list")
def list_(organisation: Organisation, language: Language = None, as_json: AsJson = False) -> None:
    """List the sensors of an organisation."""

    async def work(session: Session, application: Application) -> int:
        sensors = await application.sensors(Path(organisation))
        session.output.data({"sensors": sensors})
        say = session.say
        if not sensors:
            session.output.show(say("sensors-none"))
            return Exit.DONE
        names = ("name", "watches", "when", "severity", "raises", "next", "last")
        rows = [_row(each, session.output) for each in sensors]
        session.output.show(table([say(f"sensors-{name}") for name in names], rows))
        for each in sensors:
            session.output.show(*_notes(each, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _row(sensor: SensorRow, output: Output) -> list[str]:
    say = output.say
    watched = " ".join([sensor.metric or "", ", ".join([sensor.grain or "", *sensor.by])]).strip()
    when = sensor.when if sensor.in_a_row < 2 else f"{sensor.when}  × {sensor.in_a_row}"
    if sensor.clear_when is not None:
        when = f"{when}  … {sensor.clear_when}"
    return [
        sensor.name,
        sensor.watches or watched,
        when or ", ".join(f"{say(f'sensors-rule-{name}')} {rule}" for name, rule in sensor.rules.items()),
        say(f"severity-{sensor.severity.value}"),
        sensor.skill or "",
        moment_text(sensor.next_due) if sensor.next_due else "",
        moment_text(sensor.last_run) if sensor.last_run else "",
    ]


def _notes(sensor: SensorRow, output: Output) -> list[Text]:
    """Return what went wrong with a sensor last, and why it was held back."""
    say, found = output.say, []
    if sensor.last_failure is not None:
        at = moment_text(sensor.last_failure.at)
        said = say("sensors-failed", sensor=sensor.name, at=at, message=sensor.last_failure.problem.message)
        found.append(Text.assemble(("✗ ", "red"), said))
    if sensor.open_slices:
        said = say("sensors-open", sensor=sensor.name, slices="; ".join(sensor.open_slices))
        found.append(Text.assemble(("▲ ", "cyan"), said))
    if sensor.recalibrated_at is not None:
        at = moment_text(sensor.recalibrated_at)
        said = say("sensors-recalibrated", sensor=sensor.name, at=at, metric=sensor.metric or "")
        found.append(Text.assemble(("· ", "dim"), said))
    if sensor.held_back:
        why = sensor.held_back_for
        said = say("sensors-held-back", sensor=sensor.name, count=sensor.held_back, why=why)
        found.append(Text.assemble(("· ", "dim"), said))
    return found


@app.command()
def run(
    organisation: Organisation,
    sensors: Annotated[
        list[str] | None, typer.Argument(metavar="[SENSOR…]", help="Which ones; else all.", show_default=False)
    ] = None,
    *,
    at: At = None,
    start: Annotated[bool, typer.Option("--start", help="Run each goal that is raised.", show_default=False)] = False,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Let sensors look at what is known; a signal raises a goal once."""

    async def work(session: Session, application: Application) -> int:
        output = session.output
        async with progress_shown(application, output, session.watch) as watch:
            outcome = await application.run_sensors(
                Path(organisation), sensors or (), at=moment(at), start=start, by=as_, watch=watch
            )
        output.data(_data(outcome, output))
        _show(outcome, organisation, at, output)
        started = [exit_of(raised.execution.state) for raised in outcome.raised if raised.execution is not None]
        if outcome.failed or Exit.FAILED in started:
            return Exit.FAILED
        return Exit.WAITING if Exit.WAITING in started else Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _show(outcome: SensorsOutcome, organisation: str, at: str | None, output: Output) -> None:
    say = output.say
    looked = say("sensors-looked", sensors=outcome.sensors, buckets=outcome.buckets, at=moment_text(outcome.at))
    merged = f" · {say('sensors-merged', count=outcome.merged)}" if outcome.merged else ""
    output.show(Text(looked + merged, style="dim"))
    if not outcome.raised and not outcome.failed:
        output.show(say("sensors-quiet"))
    for failure in outcome.failed:
        output.show(_failure_line(failure, output))
    for raised in outcome.raised:
        if raised.signal.kind is SignalKind.SENSOR_FAILED:
            continue  # it stands among the failures, with its reason
        output.show(_signal_line(raised, output))
        if raised.execution is not None:
            output.show(*outcome_lines(raised.execution, output))
        elif raised.goal:
            output.show(Text(f"  {_command(raised, organisation, at)}"))


def _failure_line(failure: SensorFailure, output: Output) -> Text:
    kind = output.say("signal-sensor-failed")
    return Text.assemble(("✗ ", "red"), f"{kind}  ", (failure.sensor, "bold"), f"  {failure.problem.message}")


def _signal_line(raised: Raised, output: Output) -> Text:
    signal, say = raised.signal, output.say
    kind = signal.kind.value.replace("_", "-")
    where = ", ".join(f"{name} {value}" for name, value in signal.dimensions.items())
    value = say("summary-missing") if signal.value is None else measured(signal.value, raised.unit)
    return Text.assemble(
        _mark(signal),
        f"{say(f'signal-{kind}')}  ",
        (signal.sensor, "bold"),
        f"  {signal.bucket or ''}",
        f"  {where}" if where else "",
        f"  {signal.metric or ''} {value}",
        _usual(raised, say),
        (f"  {say(f'severity-{signal.severity.value}')}", "dim"),
    )


def _mark(signal: Signal) -> tuple[str, str]:
    if signal.kind is SignalKind.CLEARED:
        return ("✓ ", "green")
    return ("▲ ", "red" if signal.severity.value in ("critical", "high") else "cyan")


def _usual(raised: Raised, say: Say) -> str:
    """Return what was expected and what still would have been usual, where the sensor knows that."""
    signal = raised.signal
    if signal.expected is None or signal.low is None or signal.high is None:
        return ""
    expected, low, high = (measured(value, raised.unit) for value in (signal.expected, signal.low, signal.high))
    return f"  {say('sensors-usual', expected=expected, low=low, high=high)}"


def _command(raised: Raised, organisation: str, at: str | None) -> str:
    skill = ("--skill", raised.skill) if raised.skill else ()
    given = [word for name, value in raised.given.items() for word in ("--with", f"{name}={value}")]
    known = ("--at", at) if at else ()
    return command_line("run", organisation, raised.goal, *skill, *given, *known)


def _data(outcome: SensorsOutcome, output: Output) -> dict[str, Any]:
    data: dict[str, Any] = to_data(outcome)
    for each, raised in zip(data["raised"], outcome.raised, strict=True):
        each["execution"] = outcome_data(raised.execution, output) if raised.execution else None
    return data
