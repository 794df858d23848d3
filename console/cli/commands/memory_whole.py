"""`silicon memory auto | consolidate`: what is remembered, told as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.cli.exits import Exit
from console.cli.options import As, AsJson, Language, Organisation
from console.cli.render.auto_memory import page_lines, shelf_line
from console.cli.session import Session, conduct
from console.ports import Application


def register(app: typer.Typer) -> None:
    """Give the group its commands about auto memory."""
    app.command("auto")(auto)
    app.command("consolidate")(consolidate)


def auto(
    organisation: Organisation,
    *,
    employee: Annotated[
        str | None, typer.Option("--with", metavar="EMPLOYEE", help="Whom one talks to.", show_default=False)
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option("--domain", metavar="NAME", help="What it is about; repeatable.", show_default=False),
    ] = None,
    project: Annotated[
        list[str] | None,
        typer.Option("--project", metavar="NAME", help="Of which project; repeatable.", show_default=False),
    ] = None,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show what a conversation begins with.

    That is the page of its project, then the general one, each at most 8,000 characters.
    """

    async def work(session: Session, application: Application) -> int:
        pages = await application.auto_memory(
            Path(organisation), by=as_, employee=employee, domains=domain or (), projects=project or ()
        )
        session.output.data({"pages": pages})
        if not pages:
            session.output.show(session.say("memory-none"))
        for page in pages:
            session.output.show(*page_lines(page, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def consolidate(
    organisation: Organisation, *, as_: As = None, language: Language = None, as_json: AsJson = False
) -> None:
    """Tell memories anew where something changed.

    That is where something was written or forgotten since; elsewhere no model is asked. Servers do it whenever a
    conversation begins.
    """

    async def work(session: Session, application: Application) -> int:
        told = await application.consolidate_memories(Path(organisation), by=as_)
        session.output.data({"shelves": told})
        if not told:
            session.output.show(session.say("memory-none"))
        for shelf in told:
            session.output.show(*shelf_line(shelf, session.output))
        return Exit.FAILED if any(shelf.outcome == "unfinished" for shelf in told) else Exit.DONE

    conduct(work, as_json=as_json, language=language)
