"""`silicon export`: one execution in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.render.kept import size
from console.cli.session import Session, conduct, find_id
from console.ports import Application
from contracts import ExecutionId

app = command()


@app.command()
def export(
    execution: Annotated[
        str, typer.Argument(metavar="EXECUTION", help="The execution; its first or last letters suffice.")
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to make, for example run.jsonl.gz.")],
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Write an execution as it stands, with all its evidence, into one new file that proves itself."""

    async def work(session: Session, application: Application) -> int:
        execution_id = await find_id(application, ExecutionId, execution)
        exported = await application.export_execution(execution_id, Path(file))
        session.output.data(exported)
        said = session.say(
            "export-done", execution=execution_id, file=file, events=exported.events, size=size(exported.bytes)
        )
        session.output.show(Text.assemble(("✓ ", "green"), said), Text(f"  sha256 {exported.sha256}", style="dim"))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)
