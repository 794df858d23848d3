"""`silicon alerts`: what sensors and others noticed, as alerts; who is told, who has it, and why nobody hears of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import As, AsJson, At, Language, Organisation, command, moment
from console.cli.render.alerts import alert_lines, detail_lines, silence_lines
from console.cli.session import Session, conduct
from console.cli.words import command_line
from console.ids import choose
from console.ports import Application
from console.views_alerts import AlertRow
from contracts import AlertId, SilenceId
from governance.alerts import typed_matcher
from runtime.errors import InvalidArguments

app = command("List and show alerts, acknowledge and silence them.")
Alert = Annotated[str, typer.Argument(metavar="ALERT", help="The alert; the first or last letters of its id suffice.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="What is known of it; it is written down.")]
Match = Annotated[
    list[str] | None,
    typer.Option("--match", metavar="LABEL=VALUE", help="Only alerts with this label; repeatable.", show_default=False),
]


@app.command("list")
def list_(
    organisation: Organisation,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Those that ended lately too.", show_default=False)] = False,
    match: Match = None,
    at: At = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List alerts and silences, and why nobody is told of some."""

    async def work(session: Session, application: Application) -> int:
        shown = await application.alerts(Path(organisation), all_=all_, match=match or (), at=moment(at))
        session.output.data(shown)
        if not shown.alerts:
            session.output.show(session.say("alerts-none"))
        for row in shown.alerts:
            session.output.show(*alert_lines(row, session.output))
        for silence in shown.silences:
            session.output.show(*silence_lines(silence, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def show(organisation: Organisation, alert: Alert, language: Language = None, as_json: AsJson = False) -> None:
    """Show one alert with everything that happened to it."""

    async def work(session: Session, application: Application) -> int:
        folder = Path(organisation)
        row, history = await application.alert(folder, await _alert(application, folder, alert))
        session.output.data({"alert": row, "history": history})
        session.output.show(*detail_lines(row, history, session.output))
        if row.state.value == "open":
            session.output.show(Text(f"  {command_line('alerts', 'ack', organisation, row.alert_id.ulid)}"))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def ack(
    organisation: Organisation,
    alert: Alert,
    *,
    reason: Reason = "",
    at: At = None,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Take an alert on: nobody else is called for it."""

    async def work(session: Session, application: Application) -> int:
        folder = Path(organisation)
        alert_id = await _alert(application, folder, alert)
        row = await application.acknowledge_alert(folder, alert_id, by=as_, reason=reason, at=moment(at))
        return _shown(session, row)

    conduct(work, as_json=as_json, language=language)


@app.command()
def resolve(
    organisation: Organisation,
    alert: Alert,
    *,
    reason: Reason = "",
    at: At = None,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Say that an alert is over."""

    async def work(session: Session, application: Application) -> int:
        folder = Path(organisation)
        alert_id = await _alert(application, folder, alert)
        row = await application.resolve_alert(folder, alert_id, by=as_, reason=reason, at=moment(at))
        return _shown(session, row)

    conduct(work, as_json=as_json, language=language)


@app.command()
def silence(
    organisation: Organisation,
    *,
    match: Match = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)] = "",
    until: Annotated[
        str | None, typer.Option("--until", metavar="LOCALTIME", help="Until then.", show_default=False)
    ] = None,
    hours: Annotated[
        float | None, typer.Option("--hours", metavar="N", help="For so many hours.", show_default=False)
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Make it; without, what it would hush is shown.", show_default=False)
    ] = False,
    at: At = None,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show what a silence would hush; make it with --yes."""

    async def work(session: Session, application: Application) -> int:
        folder, words, now, say = Path(organisation), match or [], moment(at), session.say
        if not words:
            raise InvalidArguments("Say which alerts: --match LABEL=VALUE, for example --match sensor=cancellations.")
        matching = (await application.alerts(folder, match=words, at=now)).alerts
        if not yes:
            session.output.data({"matching": matching, "silence": None})
            session.output.show(say("alerts-would-silence", count=len(matching)))
            for row in matching:
                session.output.show(*alert_lines(row, session.output))
            session.output.show(Text(say("alerts-nothing-made"), style="dim"))
            return Exit.DONE
        lasts = None if hours is None else timedelta(hours=hours)
        end = None if until is None else moment(until)
        made = await application.silence_alerts(
            folder, typed_matcher(words), by=as_, reason=reason, until=end, lasts=lasts, at=now
        )  # fmt: skip
        session.output.data({"matching": matching, "silence": made})
        session.output.show(say("alerts-silenced", count=len(matching)), *silence_lines(made, session.output))
        session.output.show(Text(f"  {command_line('alerts', 'lift', organisation, made.silence_id.ulid)}"))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def lift(
    organisation: Organisation,
    silence_: Annotated[str, typer.Argument(metavar="SILENCE", help="The silence, by its id or letters of it.")],
    *,
    at: At = None,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """End a silence now."""

    async def work(session: Session, application: Application) -> int:
        folder = Path(organisation)
        silence_id = choose(SilenceId, silence_, await application.silence_ids(folder))
        lifted = await application.lift_silence(folder, silence_id, by=as_, at=moment(at))
        session.output.data(lifted)
        session.output.show(Text.assemble(("✓ ", "green"), session.say("alerts-lifted", id=lifted.silence_id.ulid)))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _shown(session: Session, row: AlertRow) -> Exit:
    """Show an alert after something was done to it."""
    session.output.data(row)
    session.output.show(*alert_lines(row, session.output))
    return Exit.DONE


async def _alert(application: Application, folder: Path, typed: str) -> AlertId:
    return choose(AlertId, typed, await application.alert_ids(folder))
