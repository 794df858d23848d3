"""`silicon tokens`: who may use the HTTP API."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.render.facts import facts
from console.cli.session import Session, conduct, find_id
from console.cli.words import moment
from console.ports import Application
from contracts import TokenId
from governance.access import Token
from runtime.errors import InvalidArguments
from runtime.texts import Say

_UNITS = {"h": "hours", "d": "days", "w": "weeks", "m": "minutes"}
app = command("Make, list and revoke tokens of the HTTP API.", alone="list")


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the token is for, in your words.")],
    *,
    organisations: Annotated[
        list[str] | None,
        typer.Option(
            "--for", metavar="ORG", help="The organisation's folder; several for a bridge.", show_default=False
        ),
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option("--as", metavar="PERSON", help="The person that it acts as, and no other.", show_default=False),
    ] = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="It acts as anybody, in every organisation.", show_default=False)
    ] = False,
    bridge: Annotated[
        bool,
        typer.Option("--bridge", help="It is for a bridge that speaks HTTP, and for nothing else.", show_default=False),
    ] = False,
    labels: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="LABEL", help="A label that the bridge's nodes may offer.", show_default=False),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            "--within", metavar="90d", help="It counts this long: 12h, 90d; else for ever.", show_default=False
        ),
    ] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Make a token. It is for a person (--for, --as), an administrator (--admin), or a bridge (--bridge, --for)."""
    folders = [Path(each) for each in organisations or ()]

    async def work(session: Session, application: Application) -> int:
        if not _is_one_kind(len(folders), person=as_ is not None, admin=admin, bridge=bridge, labels=bool(labels)):
            raise InvalidArguments(
                "A token is for one person: --for ORG --as PERSON. Or for a bridge: --bridge --for ORG --label LABEL. "
                "Or it may do anything: --admin."
            )
        if bridge:
            if within is not None:
                raise InvalidArguments("A bridge's token counts until it is revoked: leave --within out.")
            token, text = await application.create_bridge_token(name, folders=folders, labels=labels or ())
        else:
            token, text = await application.create_token(
                name, folder=next(iter(folders), None), person=as_, within_s=_seconds(within)
            )
        namesakes = [each.token_id for each in await application.tokens() if _may_be_mistaken(each, token)]
        session.output.data({**token_data(token), "token": text, "same_name": namesakes})
        session.output.show(session.say("tokens-made"), Text(text), *token_lines(token, session.say))
        if namesakes:
            session.output.note(session.say("tokens-same-name", name=token.name, tokens=", ".join(namesakes)))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command("list")
def list_(language: Language = None, as_json: AsJson = False) -> None:
    """List all tokens, oldest first. Their texts are not kept and cannot be shown."""

    async def work(session: Session, application: Application) -> int:
        tokens = await application.tokens()
        session.output.data({"tokens": [token_data(token) for token in tokens]})
        if not tokens:
            session.output.show(session.say("tokens-none"))
        for number, token in enumerate(tokens):
            session.output.show(*([Text()] if number else []), *token_lines(token, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def revoke(
    token: Annotated[
        str, typer.Argument(metavar="TOKEN", help="The token; the first or last letters of its id suffice.")
    ],
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Let a token count no more, from the next request on."""

    async def work(session: Session, application: Application) -> int:
        revoked = await application.revoke_token(await find_id(application, TokenId, token))
        session.output.data(token_data(revoked))
        session.output.show(session.say("tokens-revoked"), *token_lines(revoked, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _seconds(within: str | None) -> float | None:
    if within is None:
        return None
    try:
        return timedelta(**{_UNITS[within[-1:]]: float(within[:-1])}).total_seconds()
    except (KeyError, ValueError, OverflowError):
        raise InvalidArguments(f"--within: {within!r} is no duration; write for example 12h or 90d.") from None


def _is_one_kind(folders: int, *, person: bool, admin: bool, bridge: bool, labels: bool) -> bool:
    if bridge:
        return folders > 0 and not (person or admin)
    return not labels and (folders, person, admin) in ((1, True, False), (0, False, True))


def _may_be_mistaken(other: Token, token: Token) -> bool:
    """Whether another token that counts is called the same; a list, or a record of who did what, shows names."""
    return other.name == token.name and other.token_id != token.token_id and other.revoked_at is None


def token_data(token: Token) -> dict[str, object]:
    """Return what is told of a token as JSON."""
    return {
        "token_id": str(token.token_id),
        "name": token.name,
        "organisation": token.organisation,
        "person": token.person,
        "bridge": None
        if token.bridge is None
        else {"organisations": list(token.bridge.organisations), "labels": list(token.bridge.labels)},
        "created_at": token.created_at.isoformat(),
        "created_by": token.created_by,
        "expires_at": None if token.expires_at is None else token.expires_at.isoformat(),
        "used_at": None if token.used_at is None else token.used_at.isoformat(),
        "revoked_at": None if token.revoked_at is None else token.revoked_at.isoformat(),
    }


def token_lines(token: Token, say: Say) -> list[RenderableType]:
    """Return what is shown of a token."""
    who = say("tokens-anybody") if token.person is None else f"{token.person} · {token.organisation}"
    if token.bridge is not None:
        labels = f" ({', '.join(token.bridge.labels)})" if token.bridge.labels else ""
        who = say("tokens-bridge", organisations=", ".join(token.bridge.organisations)) + labels
    pairs = [
        (say("tokens-acts-as"), who),
        (say("tokens-id"), str(token.token_id)),
        (say("tokens-created"), f"{moment(token.created_at)} · {token.created_by}"),
    ]
    if token.expires_at is not None:
        pairs.append((say("tokens-expires"), moment(token.expires_at)))
    if token.used_at is not None:
        pairs.append((say("tokens-used"), moment(token.used_at)))
    if token.revoked_at is not None:
        pairs.append((say("tokens-revoked-at"), moment(token.revoked_at)))
    style = "dim" if token.revoked_at is not None else ""
    return [Text(token.name, style=style), facts(pairs)]
