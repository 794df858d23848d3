"""`silicon memory correct | withdraw | restore | archive | undo | confirm | erase`: what people do with a memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from console.cli.exits import Exit
from console.cli.options import As, AsJson, Language, Organisation
from console.cli.render.memories import memory_lines
from console.cli.session import Session, conduct
from console.ports import Application
from console.ports_memories import MemoryMove
from contracts import ExecutionId, MemoryId
from runtime.errors import InvalidArguments

Find = Callable[[Application, Path, str, str | None], Awaitable[MemoryId]]
Memory = Annotated[str, typer.Argument(metavar="MEMORY", help="The memory; the first or last letters of its id do.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is written down.")]
_HELP = {
    MemoryMove.WITHDRAW: "Forget a memory; it can be restored.",
    MemoryMove.RESTORE: "Bring back what was withdrawn or archived.",
    MemoryMove.ARCHIVE: "Put a memory away; it can be restored.",
    MemoryMove.UNDO: "Take the newest change of a memory back.",
    MemoryMove.CONFIRM: "Let a disputed memory hold.",
    MemoryMove.ERASE: "Remove the words of every version for good.",
}


def register(app: typer.Typer, find: Find) -> None:
    """Give the group its commands that change a memory."""
    app.command("correct")(_correct(find))
    for move, help_ in _HELP.items():
        app.command(move.value, help=help_)(_moving(move, find))


def _correct(find: Find) -> Callable[..., None]:
    def correct(
        organisation: Organisation,
        memory: Memory,
        *,
        text: Annotated[
            str | None, typer.Option("--text", help="What it says from now on.", show_default=False)
        ] = None,
        domain: Annotated[
            str | None, typer.Option("--domain", metavar="NAME", help="Its business domain.", show_default=False)
        ] = None,
        importance: Annotated[
            float | None, typer.Option("--importance", min=0, max=1, help="0 to 1.", show_default=False)
        ] = None,
        version: Annotated[
            int | None,
            typer.Option("--version", min=1, help="Only if it still has this version.", show_default=False),
        ] = None,
        reason: Reason = "",
        as_: As = None,
        language: Language = None,
        as_json: AsJson = False,
    ) -> None:
        """Write a new version of what a memory says.

        The one before stays in its history.
        """
        changed = {
            name: value
            for name, value in (("text", text), ("domain", domain), ("importance", importance))
            if value is not None
        }

        async def work(session: Session, application: Application) -> int:
            if not changed:
                raise InvalidArguments("Say what changes: --text, --domain or --importance.")
            folder = Path(organisation)
            memory_id = await find(application, folder, memory, as_)
            row = await application.correct_memory(
                folder, memory_id, changed, by=as_, version=version, reason=reason
            )  # fmt: skip
            session.output.data({"memory": row})
            session.output.show(*memory_lines(row, session.output))
            return Exit.DONE

        conduct(work, as_json=as_json, language=language)

    return correct


async def _execution_behind(
    application: Application, folder: Path, memory_id: MemoryId, by: str | None
) -> ExecutionId | None:
    """Return the execution in which an employee wrote a memory; None where a person did."""
    row, _ = await application.memory(folder, memory_id, by=by)
    return row.record.source.execution_id


def _moving(move: MemoryMove, find: Find) -> Callable[..., None]:
    def moving(
        organisation: Organisation,
        memory: Memory,
        *,
        reason: Reason = "",
        as_: As = None,
        language: Language = None,
        as_json: AsJson = False,
    ) -> None:
        async def work(session: Session, application: Application) -> int:
            folder = Path(organisation)
            memory_id = await find(application, folder, memory, as_)
            wrote = await _execution_behind(application, folder, memory_id, as_) if move is MemoryMove.ERASE else None
            row = await application.move_memory(folder, memory_id, move, by=as_, reason=reason)
            session.output.data({"memory": row, "memory_id": memory_id})
            if row is None:
                session.output.show(session.say("memory-erased", id=memory_id.ulid))
                if wrote is not None:
                    session.output.show(session.say("memory-erased-not-execution", id=wrote))
            else:
                session.output.show(*memory_lines(row, session.output))
            return Exit.DONE

        conduct(work, as_json=as_json, language=language)

    return moving
