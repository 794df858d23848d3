"""`silicon memory profile | profile-set | profile-forget | erase-person`: what is known of a person, and theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.cli.exits import Exit
from console.cli.options import As, AsJson, Language, Organisation
from console.cli.render.profile import erased_lines, profile_lines
from console.cli.session import Session, conduct
from console.ports import Application
from runtime.errors import InvalidArguments

Trait = Annotated[str, typer.Argument(metavar="TRAIT", help="Such as `format`, `length`, `topic`, `term`.")]


def register(app: typer.Typer) -> None:
    """Give the group its commands about people."""
    app.command("profile")(profile)
    app.command("profile-set")(profile_set)
    app.command("profile-forget")(profile_forget)
    app.command("erase-person")(erase_person)


def profile(organisation: Organisation, *, as_: As = None, language: Language = None, as_json: AsJson = False) -> None:
    """Show what is known of oneself, and why.

    How one likes to be answered, what one looks at, what one knows. Nobody else sees it.
    """

    async def work(session: Session, application: Application) -> int:
        view = await application.profile(Path(organisation), by=as_)
        session.output.data(view)
        session.output.show(*profile_lines(view, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def profile_set(
    organisation: Organisation,
    trait: Trait,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Such as `table`; `TERM=known` or `TERM=to explain`.")],
    *,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Say oneself how it is.

    That beats what was noticed, and does not fade.
    """

    async def work(session: Session, application: Application) -> int:
        view = await application.set_profile(Path(organisation), trait, value, by=as_)
        session.output.data(view)
        session.output.show(*profile_lines(view, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def profile_forget(
    organisation: Organisation,
    trait: Annotated[
        str | None, typer.Argument(metavar="TRAIT", help="What is to be forgotten.", show_default=False)
    ] = None,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="Which value.", show_default=False)] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Everything that is known of oneself.")] = False,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Erase what was noticed of oneself.

    One trait and value, or everything with --all.
    """

    async def work(session: Session, application: Application) -> int:
        if all_ == (trait is not None):
            raise InvalidArguments("Say TRAIT and VALUE, or --all.")
        view = await application.forget_profile(Path(organisation), by=as_, trait=trait, value=value)
        session.output.data(view)
        session.output.show(*profile_lines(view, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def erase_person(
    organisation: Organisation,
    person: Annotated[str, typer.Argument(metavar="PERSON", help="Their id in org.yaml.")],
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is written down.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do it; else it is only told what would be erased.")] = False,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Erase everything that is remembered of a person.

    Memories, profile, conversations, files and what was made of them. Who asked for and decided what stays.
    """

    async def work(session: Session, application: Application) -> int:
        view = await application.erase_person(Path(organisation), person, by=as_, reason=reason, sure=yes)
        session.output.data(view)
        session.output.show(*erased_lines(view, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)
