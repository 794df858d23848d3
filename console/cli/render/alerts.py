"""Alerts and silences as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from console.cli.output import Output
from console.cli.render.facts import Pair, facts
from console.cli.words import moment, one_line
from console.views_alerts import AlertEvent, AlertRow, SilenceRow
from governance.alerts import AlertState

_MARKS = {
    AlertState.OPEN: ("▲ ", "red"), AlertState.ACKNOWLEDGED: ("● ", "cyan"), AlertState.RESOLVED: ("✓ ", "green"),
    AlertState.CLOSED: ("✓ ", "dim"),
}  # fmt: skip
_OWN = ("source", "kind", "sensor", "metric")
_LONGEST = 300


def headline(row: AlertRow, output: Output) -> Text:
    """Return an alert in one line: how pressing, what, where."""
    name = row.labels.get("sensor", row.source)
    spoken = row.labels.get("sensor") or row.kind == "metric_changed"
    kind = output.say(f"signal-{row.kind.replace('_', '-')}") if spoken else row.kind
    where = ", ".join(f"{label} {value}" for label, value in row.labels.items() if label not in _OWN)
    return Text.assemble(
        (f"P{row.priority} ", "bold"), (name, "bold"), f"  {kind}", f"  {where}" if where else "",
        f"  {row.about}" if row.about else "", (f"  {row.alert_id.ulid}", "dim"),
    )  # fmt: skip


def alert_lines(row: AlertRow, output: Output) -> list[Text]:
    """Return an alert with how it stands, and why nobody is told where that is so."""
    say = output.say
    counted = say("alerts-signals", count=row.signals, repeated=row.duplicates)
    stands = [say(f"alerts-state-{row.state.value}"), counted, say("alerts-last", at=moment(row.last_at))]
    if row.acknowledged_by:
        stands.append(say("alerts-taken-by", by=row.acknowledged_by))
    if row.told_to:
        stands.append(say("alerts-told", to=", ".join(row.told_to)))
    if row.reason:
        stands.append(one_line(row.reason, _LONGEST))
    lines = [Text.assemble(_MARKS[row.state], headline(row, output)), Text(f"  {' · '.join(stands)}", style="dim")]
    for hush in row.hushes:
        until = f" ({say('alerts-until', at=moment(hush.until))})" if hush.until is not None else ""
        lines.append(Text(f"  {hush_word(hush.reason.value, output)}: {hush.by}{until}", style="yellow"))
    return lines


def detail_lines(row: AlertRow, history: Sequence[AlertEvent], output: Output) -> list[RenderableType]:
    """Return an alert with its labels and everything that happened to it."""
    say = output.say
    pairs: list[Pair] = [
        (say("alerts-labels"), ", ".join(f"{label}={value}" for label, value in row.labels.items())),
        (say("alerts-priority"), say(
            "alerts-priority-of", priority=row.priority, impact=say(f"degree-{row.impact.value}"),
            urgency=say(f"degree-{row.urgency.value}"),
        )),
        (say("alerts-severity"), say(f"severity-{row.severity.value}")),
        (say("alerts-route"), row.route),
        (say("alerts-opened"), moment(row.opened_at)),
    ]  # fmt: skip
    lines: list[RenderableType] = [*alert_lines(row, output), facts(pairs)]
    for event in history:
        told = ", ".join(f"{name} {_brief(fact)}" for name, fact in event.facts.items() if name != "labels")
        lines.append(Text.assemble((f"  {moment(event.at)}  ", "dim"), event.type, f"  {one_line(told, _LONGEST)}"))
    return lines


def silence_lines(silence: SilenceRow, output: Output) -> list[Text]:
    """Return a silence: what it matches, whose it is, why, until when."""
    match = " ".join(f"{label}={','.join(values)}" for label, values in silence.match.items())
    told = output.say("alerts-silence", by=silence.by, at=moment(silence.until), reason=one_line(silence.reason, 200))
    return [
        Text.assemble(("⊘ ", "yellow"), (match, "bold"), (f"  {silence.silence_id.ulid}", "dim")),
        Text(f"  {told}", style="dim"),
    ]


def hush_word(reason: str, output: Output) -> str:
    """Return why nobody is told, or why something is left out or changed, in words."""
    return output.say(f"alerts-why-{reason.replace('_', '-')}")


def _brief(fact: object) -> str:
    if isinstance(fact, Mapping):
        return " ".join(_brief(each) for each in fact.values() if each is not None)
    return ", ".join(map(_brief, fact)) if isinstance(fact, list) else str(fact)
