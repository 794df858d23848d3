"""Texts and values of a card as a person reads them before deciding: nothing is hidden, and nothing left out untold."""

from __future__ import annotations

import json
import re

from console.cli.output import Output
from console.cli.visible import visible
from console.cli.words import command_line, in_language
from contracts import Action, CardId, Json, Text
from runtime.canonical import sha256

MOST_LETTERS = 2_000
"""Letters of one text or value that are shown."""
_ROWS = 5
"""Items of a list that a fact shows; an action shows all of its own."""
_AMBIGUOUS = re.compile(r"""[,\[\]{}()"]|:\s|:$|^\s|\s$|^$|^(true|false|null|—)$|^-?[\d.]+$""")
"""What would make a text in an action look like something else than one text; it stands in quotation marks."""


def words(text: Text, card_id: CardId, output: Output) -> str:
    """Return a text of a card in the language of the answer; of a long one its beginning, and where the rest stands."""
    return brief(in_language(text, output.language), card_id, output)


def brief(text: str, card_id: CardId, output: Output) -> str:
    """Return a text, or the beginning of a long one with how much is left out and the command that shows it all."""
    if len(text) <= MOST_LETTERS:
        return text
    told = output.say("card-left-out", left=len(text) - MOST_LETTERS, command=all_of(card_id))
    return f"{text[:MOST_LETTERS]} … {told}"


def action_line(action: Action, card_id: CardId, output: Output) -> str:
    """Return an effect exactly as it will happen; of a long argument the beginning, its length and its hash."""
    arguments = (f"{visible(name)}: {_argument(value, card_id, output)}" for name, value in action.arguments.items())
    return f"{action.by} → {action.use}({', '.join(arguments)})"


def fact(value: Json, output: Output) -> str:
    """Return a fact of a card, with the step and path it came from."""
    if isinstance(value, dict) and "value" in value:
        source = _source(value.get("source"), output)
        return _short(value["value"], output) + (f"  ({source})" if source else "")
    return _short(value, output)


def all_of(card_id: CardId) -> str:
    """Return the command that shows everything of a card."""
    return command_line("approvals", "show", str(card_id), "--json")


def _argument(value: Json, card_id: CardId, output: Output) -> str:
    whole = _exact(value)
    if len(whole) <= MOST_LETTERS:
        return visible(whole)
    length, hashed = (len(value), value.encode()) if isinstance(value, str) else (len(whole), value)
    told = output.say("card-argument-long", length=length, sha256=sha256(hashed), command=all_of(card_id))
    return f"{visible(whole[:MOST_LETTERS])} … [{told}]"


def _exact(value: Json) -> str:
    """Return a value of an action in full: numbers to their last digit, and texts such that they stay one text."""
    match value:
        case list():
            return f"[{', '.join(map(_exact, value))}]"
        case dict():
            return "{" + ", ".join(f"{_exact(name)}: {_exact(item)}" for name, item in value.items()) + "}"
        case str():
            return json.dumps(value, ensure_ascii=False) if _AMBIGUOUS.search(value) else value
        case None:
            return "—"
    return json.dumps(value)


def _short(value: Json, output: Output) -> str:
    match value:
        case list():
            inner = [_short(item, output) for item in value[:_ROWS]]
            if len(value) > _ROWS:
                inner.append(output.say("summary-more", count=len(value) - _ROWS))
            return f"[{', '.join(inner)}]"
        case dict():
            return "{" + ", ".join(f"{name}: {_short(item, output)}" for name, item in value.items()) + "}"
        case None:
            return "—"
        case float():
            return f"{value:.6g}"
    return str(value)


def _source(source: Json, output: Output) -> str:
    """Return the step and path a number came from; its hashes stand in the JSON form."""
    if isinstance(source, dict):
        return " ".join(str(source[part]) for part in ("step", "path") if part in source)
    return _short(source, output) if source else ""
