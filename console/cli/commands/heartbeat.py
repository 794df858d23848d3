"""`silicon heartbeat`: what an organisation does by itself, and how much of its work advances its goals."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, Organisation, command
from console.cli.output import Output
from console.cli.render.facts import facts, table
from console.cli.session import Session, conduct
from console.cli.words import moment, seconds
from console.ports import Application
from console.views_beats import HeartbeatStanding

app = command()
_COLUMNS = ("goal", "meta", "refused", "rounds")
_DAYS = 14
"""Days that are shown."""


@app.command()
def heartbeat(organisation: Organisation, language: Language = None, as_json: AsJson = False) -> None:
    """Show when it last looked and acted, and how much of the work advances goals."""

    async def work(session: Session, application: Application) -> int:
        standing = await application.heartbeat(Path(organisation))
        session.output.data(standing)
        _show(standing, session.output)
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _show(standing: HeartbeatStanding, output: Output) -> None:
    say, done = output.say, standing.work
    on = say("heartbeat-on", every=seconds(standing.every_s)) if standing.on else say("heartbeat-off")
    watched = standing.watched_by or say("heartbeat-nobody")
    rows: list[tuple[str, str]] = [(say("heartbeat-beat"), on), (say("heartbeat-watched-by"), watched)]
    if standing.last_round is not None and standing.last_round_at is not None:
        rows.append((say("heartbeat-last"), f"{standing.last_round}  {moment(standing.last_round_at)}"))
    if standing.looked_at is not None:
        rows.append((say("heartbeat-quiet"), f"{standing.quiet:,}  {moment(standing.looked_at)}"))
    if standing.waiting:
        rows.append((say("heartbeat-waiting"), str(standing.waiting)))
    output.show(facts([(name, Text(value)) for name, value in rows], indent=0, width=18))
    bound = say(
        "heartbeat-work", days=standing.days, goal=done.goal, meta=done.meta, most=standing.meta_most,
        refused=done.refused,
    )  # fmt: skip
    output.show(Text(bound))
    if standing.by_day:
        days = [
            [day, *(str(getattr(each, name)) for name in _COLUMNS)]
            for day, each in list(standing.by_day.items())[-_DAYS:]
        ]
        headings = [say(f"heartbeat-{name}") for name in ("day", *_COLUMNS)]
        output.show(table(headings, days, right=(1, 2, 3, 4)))
