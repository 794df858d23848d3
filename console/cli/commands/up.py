"""`silicon up`: a server that works on executions and answers over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Engine, Language, command
from console.cli.output import Output
from console.cli.session import Session, conduct_alone

app = command()


@app.command()
def up(
    organisations: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ORG…]", help="Work for these organisations only.", show_default=False),
    ] = None,
    *,
    host: Annotated[str | None, typer.Option(metavar="HOST", help="Address to listen on; else server.host.")] = None,
    port: Annotated[
        int | None, typer.Option(metavar="PORT", min=0, max=65_535, help="Port; 0 takes a free one; else server.port.")
    ] = None,
    engine: Engine = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Work on executions and answer over HTTP, until Ctrl-C or SIGTERM; `--json` gives a line for each fact."""
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}

    def work(session: Session) -> int:
        settings = session.settings
        settings = settings.model_copy(update={"server": settings.server.model_copy(update=given)})
        folders: Sequence[Path] = [Path(each) for each in organisations or ()]
        serve = import_module("console.server.server").serve  # imported here: nothing else needs what it costs
        asyncio.run(serve(settings, folders, lambda told: _tell(told, session.output)))
        return Exit.DONE

    conduct_alone(work, as_json=as_json, language=language, engine=engine)


def _tell(told: Any, output: Output) -> None:
    name, say = type(told).__name__.lower(), output.say
    output.data_line({"event": name, **asdict(told)})
    match name:
        case "up":
            output.show(Text(say("up-listening", address=told.address, pid=str(told.pid))))
            names = ", ".join(told.organisations)
            output.show(Text(say("up-for", organisations=names) if names else say("up-for-all")))
            if told.token is not None:
                output.show(Text(say("up-token")), Text(f"  {told.token}"))
        case "stopping":
            output.note(Text(say("up-stopping", count=told.in_hand, seconds=told.within_s)))
        case "stopped":
            output.note(Text(say("up-stopped")))
