"""`silicon memory lint | place`: the folder knowledge/ of an organisation."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, Organisation
from console.cli.render.knowledge import lint_lines, placed_lines
from console.cli.session import Session, conduct
from console.ports import Application


class Nature(StrEnum):
    """What something is that is to be written down."""

    HAPPENED = "happened"
    STANDING = "standing"
    CONCLUSION = "conclusion"
    OBJECT = "object"
    RULE = "rule"


def register(app: typer.Typer) -> None:
    """Give the group its commands about knowledge folders."""
    app.command("lint")(lint)
    app.command("place")(place)


def lint(
    organisation: Organisation,
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended without losing a word.")] = False,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Find what is wrong in the folder knowledge/.

    What has to be mended is told with file and line: exit code 1. What nobody verified for 90 days is only listed.
    """

    async def work(session: Session, application: Application) -> int:
        linted = await application.lint_knowledge(Path(organisation), fix=fix)
        session.output.data(linted)
        session.output.show(*lint_lines(linted, session.output))
        return Exit.FAILED if linted.failed else Exit.DONE

    conduct(work, as_json=as_json, language=language)


def place(
    organisation: Organisation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be written down.")],
    *,
    nature: Annotated[
        Nature,
        typer.Option(
            "--is", help="What it is: it happened, where a task stands, a conclusion, what a thing is, what must hold."
        ),
    ] = Nature.CONCLUSION,
    every_turn: Annotated[bool, typer.Option("--every-turn", help="It is needed in every turn.")] = False,
    when: Annotated[
        str, typer.Option("--when", metavar="WORDS", help="The one sentence that says when to open it.")
    ] = "",
    exact: Annotated[
        bool, typer.Option("--exact", help="It has to be reproduced exactly: a command, a parameter, a number.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="Write it there, with the entry that leads to it.")] = False,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What it is called.")] = "",
    domain: Annotated[
        str | None, typer.Option("--domain", metavar="NAME", help="Of which business domain.", show_default=False)
    ] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Tell where something belongs, and write it there.

    It is refused, with the reason, where it belongs nowhere in knowledge/ or stands there already: exit code 1.
    """

    async def work(session: Session, application: Application) -> int:
        placed = await application.place_knowledge(
            Path(organisation), text, nature=nature.value, every_turn=every_turn, when=when, exact=exact, write=write,
            title=title, domain=domain,
        )  # fmt: skip
        session.output.data(placed)
        session.output.show(*placed_lines(placed, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)
