"""`silicon users`: the people of an organisation as those who log in."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from console.cli.commands.tokens import token_data, token_lines
from console.cli.exits import Exit
from console.cli.options import AsJson, Language, Organisation, command
from console.cli.render.facts import facts
from console.cli.session import Session, conduct
from console.cli.words import moment
from console.ports import Application
from console.ports_users import User
from console.system_user import system_user
from governance.access import Person, Role
from runtime.errors import InvalidArguments
from runtime.texts import Say

VIA = "cli"
app = command("See to the people who log in: passwords, locks, tokens.")
Who = Annotated[str, typer.Argument(metavar="PERSON", help="The person, by their id in org.yaml.")]


@app.command("list")
def list_(folder: Organisation, language: Language = None, as_json: AsJson = False) -> None:
    """List everybody, with roles and accounts."""

    async def work(session: Session, application: Application) -> int:
        return _told(session, await application.users(Path(folder)))

    conduct(work, as_json=as_json, language=language)


@app.command()
def show(folder: Organisation, person: Who, language: Language = None, as_json: AsJson = False) -> None:
    """Show one person."""

    async def work(session: Session, application: Application) -> int:
        return _told_one(session, await application.user(Path(folder), person))

    conduct(work, as_json=as_json, language=language)


@app.command()
def password(
    folder: Organisation,
    person: Who,
    *,
    from_stdin: Annotated[
        bool, typer.Option("--stdin", help="Read it from the first line of standard input.", show_default=False)
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take it away: the person can log in no more.", show_default=False)
    ] = False,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Give a person a password, which is asked for. Their sessions end."""

    async def work(session: Session, application: Application) -> int:
        home, by = Path(folder), system_user()
        if remove:
            return _told_one(session, await application.remove_password(home, person, by=by, via=VIA))
        await application.user(home, person)  # before anybody types one for nothing
        given = _given(session.say, from_stdin=from_stdin)
        return _told_one(session, await application.set_password(home, person, given, by=by, via=VIA))

    conduct(work, as_json=as_json, language=language)


@app.command()
def lock(
    folder: Organisation,
    person: Who,
    *,
    reason: Annotated[str, typer.Option(help="Why, for the record.")],
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Let no password, session or token of a person count."""

    async def work(session: Session, application: Application) -> int:
        by = system_user()
        return _told_one(session, await application.lock_user(Path(folder), person, reason=reason, by=by, via=VIA))

    conduct(work, as_json=as_json, language=language)


@app.command()
def unlock(folder: Organisation, person: Who, language: Language = None, as_json: AsJson = False) -> None:
    """Let a person's password and tokens count again."""

    async def work(session: Session, application: Application) -> int:
        return _told_one(session, await application.unlock_user(Path(folder), person, by=system_user(), via=VIA))

    conduct(work, as_json=as_json, language=language)


@app.command()
def tokens(folder: Organisation, person: Who, language: Language = None, as_json: AsJson = False) -> None:
    """List the tokens of a person."""

    async def work(session: Session, application: Application) -> int:
        user = await application.user(Path(folder), person)
        account = user.account
        own = [
            each
            for each in await application.tokens()
            if (each.organisation, each.person) == (account.organisation, account.person)
        ]
        session.output.data({"tokens": [token_data(each) for each in own]})
        if not own:
            session.output.show(session.say("tokens-none"))
        for number, token in enumerate(own):
            session.output.show(*([Text()] if number else []), *token_lines(token, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _given(say: Say, *, from_stdin: bool) -> str:
    """Return the password that was typed twice, or stands in the first line of standard input."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InvalidArguments("There is no terminal to ask at. Give the password on standard input with --stdin.")
    first = getpass.getpass(f"{say('users-password')}: ")
    if getpass.getpass(f"{say('users-password-again')}: ") != first:
        raise InvalidArguments("The two are not the same. Nothing was changed.")
    return first


def _told(session: Session, users: Sequence[User]) -> int:
    session.output.data({"users": [_data(user) for user in users]})
    for number, user in enumerate(users):
        session.output.show(*([Text()] if number else []), *_shown(user, session.say))
    return Exit.DONE


def _told_one(session: Session, user: User) -> int:
    session.output.data(_data(user))
    session.output.show(*_shown(user, session.say))
    return Exit.DONE


def _data(user: User) -> dict[str, object]:
    person, account = user.person, user.account
    moments = {
        name: None if at is None else at.isoformat()
        for name, at in (
            ("password_since", account.password_since),
            ("locked_at", account.locked_at),
            ("signed_in_at", account.signed_in_at),
        )
    }
    return {
        "organisation": account.organisation,
        "person": person.id,
        "name": person.name,
        "roles": _roles(person.roles),
        "departments": {scope.department: _roles(scope.roles) for scope in person.scopes},
        "groups": sorted(person.groups),
        **moments,
        "locked_by": account.locked_by,
        "reason": account.reason,
        "signed_in_via": account.signed_in_via,
        "tokens": user.tokens,
    }


def _shown(user: User, say: Say) -> list[RenderableType]:
    person, account = user.person, user.account
    password = say("users-none") if account.password_since is None else moment(account.password_since)
    pairs = [(say("users-rights"), _rights(person, say)), (say("users-password"), password)]
    if account.signed_in_at is not None:
        pairs.append((say("users-signed-in"), f"{moment(account.signed_in_at)} · {account.signed_in_via}"))
    if user.tokens:
        pairs.append((say("users-tokens"), str(user.tokens)))
    if account.locked_at is not None:
        locked = f"{moment(account.locked_at)} · {account.locked_by} · {account.reason}"
        pairs.append((say("users-locked"), locked))
    style = "dim" if account.locked_at is not None else ""
    return [Text(f"{person.name} · {person.id}", style=style), facts(pairs)]


def _rights(person: Person, say: Say) -> str:
    parts = [say("users-everywhere", roles=", ".join(_roles(person.roles)))] if person.roles else []
    parts += [f"{scope.department}: {', '.join(_roles(scope.roles))}" for scope in person.scopes]
    return "; ".join(parts) or say("users-none")


def _roles(roles: frozenset[Role]) -> list[str]:
    return [role.value for role in Role if role in roles]
