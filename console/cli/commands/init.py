"""`silicon init`: a small organisation that works."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.commands.check import show_result
from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.session import Session, conduct
from console.cli.words import command_line
from console.ports import Application
from console.starter.make import GOAL, make
from runtime.errors import InvalidArguments

app = command()


@app.command()
def init(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder to make; it must be empty or absent.")],
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Make a small organisation with data of its own, and check it."""

    async def work(session: Session, application: Application) -> int:
        output, say = session.output, session.say
        if not folder.strip():
            raise InvalidArguments("The new organisation needs a folder: name one, for example `silicon init bakery`.")
        files = make(Path(folder))
        result = await application.check(Path(folder))
        commands = [command_line("run", folder, GOAL)]
        output.data({"folder": folder, "files": files, "check": result, "next": commands})
        output.show(say("init-made", folder=folder))
        show_result(result, output)
        if not result.faults:
            output.show(say("init-next"), *(Text(f"  {each}") for each in commands))
        return Exit.FAILED if result.faults else Exit.DONE

    conduct(work, as_json=as_json, language=language)
