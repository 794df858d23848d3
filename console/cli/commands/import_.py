"""`silicon import`: an execution that happened elsewhere, to be looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.session import Session, conduct
from console.cli.words import command_line
from console.ports import Application

app = command()


@app.command()
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file that `silicon export` made.")],
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Check an exported execution and take it in, to be looked at; it never runs here."""

    async def work(session: Session, application: Application) -> int:
        imported = await application.import_execution(Path(file))
        session.output.data(imported)
        said = session.say("import-done", execution=imported.execution_id, events=imported.events)
        session.output.show(
            Text.assemble(("✓ ", "green"), said),
            Text(f"  {command_line('show', str(imported.execution_id))}", style="dim"),
        )
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)
