"""Options that several commands share, worded once."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from runtime.errors import InvalidArguments

AsJson = Annotated[
    bool, typer.Option("--json", help="Answer as one JSON value on standard output.", show_default=False)
]
Language = Annotated[
    str | None, typer.Option("--language", metavar="en|zh", help="Language of the answer.", show_default=False)
]
As = Annotated[
    str | None,
    typer.Option("--as", metavar="PERSON", help="Who acts, as named in org.yaml; else your login.", show_default=False),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="inline|ray",
        help="Where employees sit: in this process, or on Ray; else workforce.engine.",
        show_default=False,
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="LOCALTIME",
        help="See only what was known then: 2013-02-08T17:00, local time of the organisation.",
        show_default=False,
    ),
]
Organisation = Annotated[str, typer.Argument(metavar="ORG", help="The organisation's folder.")]
Seconds = Annotated[
    str | None,
    typer.Option("--budget-seconds", metavar="SECONDS", help="Seconds of work at most.", show_default=False),
]
Steps = Annotated[
    str | None, typer.Option("--budget-steps", metavar="STEPS", help="Steps at most.", show_default=False)
]
Tokens = Annotated[
    str | None, typer.Option("--budget-tokens", metavar="TOKENS", help="Tokens at most.", show_default=False)
]
Costs = Annotated[
    str | None, typer.Option("--budget-money", metavar="'5 USD'", help="Costs at most.", show_default=False)
]


def command(help_: str = "", *, alone: str = "") -> typer.Typer:
    """Return an empty command; with `help_` one that has sub-commands.

    `alone` is the sub-command that is meant where none is named: what shows how things stand and needs no argument.
    """
    return typer.Typer(
        cls=type("Group", (Group,), {"alone": alone}),
        help=f"{help_} Alone it means `{alone}`." if alone else help_ or None,
        no_args_is_help=bool(help_),
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


class Group(TyperGroup):
    """A command with sub-commands, one of which may be left out."""

    alone = ""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the sub-command that is meant where only its options were typed, or nothing."""
        if self.alone and (not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)):
            args = [self.alone, *args]
        return super().parse_args(ctx, args)


def moment(text: str | None, option: str = "--at") -> datetime | None:
    """Return the moment that an option means; naive is local time of the organisation."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArguments(
            f"{option}: {text!r} is not a moment. Write it as 2013-02-08T17:00, local time of the organisation.",
            at=text,
        ) from None


def limits(seconds: str | None, steps: str | None, tokens: str | None, money: str | None) -> dict[str, str]:
    """Return the limits of a budget that were typed, by name."""
    typed = {"seconds": seconds, "steps": steps, "tokens": tokens, "money": money}
    return {name: text for name, text in typed.items() if text is not None}


def pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """Return `key=value` texts as a mapping; a key without value or given twice is refused."""
    values: dict[str, str] = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InvalidArguments(f"{option}: {text!r} is not NAME=VALUE.", typed=text)
        if key.strip() in values:
            raise InvalidArguments(f"{option}: {key.strip()} is given twice.", typed=text)
        values[key.strip()] = value
    return values
