"""`silicon dead-letters`: events that a group of the bus could not handle, however often it was given them."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.form import to_data
from console.cli.options import AsJson, Language, command
from console.cli.render.facts import Pair, facts
from console.cli.session import Session, conduct
from console.cli.words import command_line, moment, one_line
from console.ports import Application
from contracts import Event
from runtime.bus import DeadLetter
from runtime.errors import InvalidArguments
from runtime.texts import Say

app = command("See to events that a group of the bus could not handle.", alone="list")
Letter = Annotated[
    str, typer.Argument(metavar="LETTER", help="The dead letter, GROUP/POSITION as `list` shows it: mailer/17.")
]
_NAMED = re.compile(r"(dead/)?(?P<group>[^/]+)/(?P<position>[0-9]{1,19})")


@app.command("list")
def list_(
    group: Annotated[
        str | None, typer.Option("--group", metavar="GROUP", help="Only those of this group.", show_default=False)
    ] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List the dead letters, oldest first."""

    async def work(session: Session, application: Application) -> int:
        letters = await application.dead_letters(group)
        session.output.data({"dead_letters": [_data(letter) for letter in letters]})
        if not letters:
            session.output.show(session.say("letters-none"))
        for letter in letters:
            session.output.show(*_line(letter, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def show(letter: Letter, language: Language = None, as_json: AsJson = False) -> None:
    """Show one with its last failure and its event. Below stand the commands that end it."""

    async def work(session: Session, application: Application) -> int:
        found, event = await application.dead_letter(*_named(letter))
        session.output.data({**_data(found), "event": None if event is None else to_data(event)})
        session.output.show(_head(found), facts(_pairs(found, event, session.say)))
        session.output.show(*(Text(f"  {line}") for line in _commands(found)))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def retry(letter: Letter, language: Language = None, as_json: AsJson = False) -> None:
    """Give one to its group once more, with all its tries. Do it when the cause of the failure is mended."""

    async def work(session: Session, application: Application) -> int:
        group, position = _named(letter)
        await application.retry_dead_letter(group, position)
        session.output.data({"letter": f"{group}/{position}", "became": "retried"})
        said = session.say("letters-retried", letter=f"{group}/{position}", group=group)
        session.output.show(Text.assemble(("✓ ", "green"), said))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def drop(
    letter: Letter,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is written to the ledger.")],
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Give one up for good: its group never handles it. The event stays in the ledger."""

    async def work(session: Session, application: Application) -> int:
        group, position = _named(letter)
        await application.drop_dead_letter(group, position, reason=reason)
        session.output.data({"letter": f"{group}/{position}", "became": "dropped"})
        said = session.say("letters-dropped", letter=f"{group}/{position}", group=group)
        session.output.show(Text.assemble(("✓ ", "green"), said))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _named(typed: str) -> tuple[str, int]:
    """Return group and position of a dead letter as it was typed; its stream, `dead/mailer/17`, names it too."""
    named = _NAMED.fullmatch(typed)
    if named is None:
        raise InvalidArguments(
            f"{typed!r} names no dead letter. It is written GROUP/POSITION, for example mailer/17; "
            "`silicon dead-letters list` shows those there are.",
            typed=typed,
        )  # fmt: skip
    return named["group"], int(named["position"])


def _name(letter: DeadLetter) -> str:
    return f"{letter.group}/{letter.position}"


def _data(letter: DeadLetter) -> dict[str, Any]:
    return {"letter": _name(letter), **to_data(letter)}


def _head(letter: DeadLetter) -> Text:
    return Text.assemble(("✗ ", "red"), (_name(letter), "bold"), f"  {letter.type}  ", (letter.stream, "dim"))


def _line(letter: DeadLetter, say: Say) -> list[Text]:
    told = say("letters-given-up", at=moment(letter.at), tries=letter.tries, error=one_line(_error(letter), 200))
    return [_head(letter), Text(f"  {told}", style="dim")]


def _error(letter: DeadLetter) -> str:
    error = letter.error
    return f"{error.get('code')}: {error.get('message')}" if isinstance(error, dict) else str(error)


def _pairs(letter: DeadLetter, event: Event | None, say: Say) -> list[Pair]:
    data = None if event is None or event.data is None else json.dumps(event.data, ensure_ascii=False)
    held = say("letters-pruned") if event is None else data or "—"
    return [
        (say("letters-group"), letter.group),
        (say("letters-tries"), f"{letter.tries} · {moment(letter.at)}"),
        (say("letters-error"), _error(letter)),
        (say("letters-event"), one_line(held, 1_000)),
    ]


def _commands(letter: DeadLetter) -> list[str]:
    return [
        command_line("dead-letters", "retry", _name(letter)),
        command_line("dead-letters", "drop", _name(letter), "--reason", "TEXT"),
    ]
