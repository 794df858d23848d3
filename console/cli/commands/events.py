"""`silicon events`: what the ledger holds, and what it gets."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.output import Output
from console.cli.session import Session, conduct, find_id
from console.cli.words import one_line
from console.ports import Application
from contracts import Event, ExecutionId
from runtime.ledger.port import Fragment

app = command()
_log = logging.getLogger(__name__)


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
        async with _streamed_beside(application, execution_id, output) if follow and not as_json else nullcontext():
            async for event in application.events(execution_id, after=after, follow=follow):
                if follow:
                    output.data_line(event)
                elif as_json:
                    listed.append(event)
                output.show(_line(event.position, event, event.subject, _width(output)))
        if not follow:
            output.data({"events": listed})
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@asynccontextmanager
async def _streamed_beside(
    application: Application, execution_id: ExecutionId | None, output: Output
) -> AsyncIterator[None]:
    """Show beside the events what is only streamed, without a position."""

    async def show() -> None:
        async for fragment in application.streamed(execution_id):
            output.show(_line("·", fragment, fragment.stream, _width(output)))

    showing = asyncio.create_task(show(), name="shows what is streamed")
    try:
        yield
    finally:
        showing.cancel()
        (ended,) = await asyncio.gather(showing, return_exceptions=True)
        if isinstance(ended, Exception):  # the events themselves are not the worse for it
            _log.warning("what is only streamed could not be shown", exc_info=ended)


def _width(output: Output) -> int:
    return output.answers.width if output.answers.is_terminal else 400


def _line(position: int | str, event: Event | Fragment, subject: str, width: int) -> Text:
    data = "—" if event.data is None else json.dumps(event.data, ensure_ascii=False, separators=(", ", ": "))
    line = Text.assemble(
        (f"{position:>6}  {event.time:%Y-%m-%d %H:%M:%S}  ", "dim"),
        f"{event.type:<22}",
        (f"  {subject}  ", "dim"),
        one_line(data, 1_000),
    )
    line.truncate(width, overflow="ellipsis")
    return line
