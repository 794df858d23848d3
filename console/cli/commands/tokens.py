"""`silicon tokens`: who may use the HTTP API."""

from __future__ import annotations

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

app = command("Make, list and revoke tokens of the HTTP API.")


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the token is for, in your words.")],
    *,
    organisation: Annotated[
        str | None, typer.Option("--for", metavar="ORG", help="The organisation's folder.", show_default=False)
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option("--as", metavar="PERSON", help="The person that it acts as, and no other.", show_default=False),
    ] = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="It acts as anybody, in every organisation.", show_default=False)
    ] = False,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Make a token: for one person of an organisation (--for, --as), or for an administrator (--admin)."""

    async def work(session: Session, application: Application) -> int:
        if (organisation is not None, as_ is not None, admin) not in ((True, True, False), (False, False, True)):
            raise InvalidArguments("A token is for one person: --for ORG --as PERSON. Or it may do anything: --admin.")
        folder = None if organisation is None else Path(organisation)
        token, text = await application.create_token(name, folder=folder, person=as_)
        session.output.data({**_data(token), "token": text})
        session.output.show(session.say("tokens-made"), Text(text), *_shown(token, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command("list")
def list_(language: Language = None, as_json: AsJson = False) -> None:
    """List all tokens, oldest first; their texts are not kept and cannot be shown."""

    async def work(session: Session, application: Application) -> int:
        tokens = await application.tokens()
        session.output.data({"tokens": [_data(token) for token in tokens]})
        if not tokens:
            session.output.show(session.say("tokens-none"))
        for number, token in enumerate(tokens):
            session.output.show(*([Text()] if number else []), *_shown(token, session.say))
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
        session.output.data(_data(revoked))
        session.output.show(session.say("tokens-revoked"), *_shown(revoked, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _data(token: Token) -> dict[str, object]:
    return {
        "token_id": str(token.token_id),
        "name": token.name,
        "organisation": token.organisation,
        "person": token.person,
        "created_at": token.created_at.isoformat(),
        "created_by": token.created_by,
        "revoked_at": None if token.revoked_at is None else token.revoked_at.isoformat(),
    }


def _shown(token: Token, say: Say) -> list[RenderableType]:
    who = say("tokens-anybody") if token.person is None else f"{token.person} · {token.organisation}"
    pairs = [
        (say("tokens-acts-as"), who),
        (say("tokens-id"), str(token.token_id)),
        (say("tokens-created"), f"{moment(token.created_at)} · {token.created_by}"),
    ]
    if token.revoked_at is not None:
        pairs.append((say("tokens-revoked-at"), moment(token.revoked_at)))
    style = "dim" if token.revoked_at is not None else ""
    return [Text(token.name, style=style), facts(pairs)]
