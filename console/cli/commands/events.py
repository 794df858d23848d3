"""`silicon events`: what the ledger holds, and what it gets."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.session import Session, conduct, find_id
from console.cli.words import one_line
from console.ports import Application
from contracts import Event, ExecutionId

app = command()


@app.command()
def events(
    execution: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="An execution; without one, everything.", show_default=False)
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is committed from now on.", show_default=False)
    ] = False,
    after: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, metavar="N", help="Only events with a greater position.")
    ] = 0,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show events in the order of their commits; `--json` gives one list, with `--follow` one line for each event."""

    async def work(session: Session, application: Application) -> int:
        output = session.output
        execution_id = await find_id(application, ExecutionId, execution) if execution else None
        listed: list[Event] = []
        async for event in application.events(execution_id, after=after, follow=follow):
            if follow:
                output.data_line(event)
            elif as_json:
                listed.append(event)
            output.show(_line(event, output.answers.width if output.answers.is_terminal else 400))
        if not follow:
            output.data({"events": listed})
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _line(event: Event, width: int) -> Text:
    data = "—" if event.data is None else json.dumps(event.data, ensure_ascii=False, separators=(", ", ": "))
    line = Text.assemble(
        (f"{event.position:>6}  {event.time:%Y-%m-%d %H:%M:%S}  ", "dim"),
        f"{event.type:<22}",
        (f"  {event.subject}  ", "dim"),
        one_line(data, 1_000),
    )
    line.truncate(width, overflow="ellipsis")
    return line
