"""Numbers as people write them: those of a value, and those of words that stand in no value."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice

from contracts import Json
from runtime.errors import InvalidArguments
from runtime.number_words import spelled_in

_NUMBER = re.compile(r"\d[\d,_' \u202f\u00a0]*(?:\.\d+)?(?:[eE][+-]?\d{1,3}(?!\d))?|\.\d+")
_GROUPS = re.compile(r"[,_' \u202f\u00a0](?=\d{3}(?!\d))")
_TOLD, _LONG = 5, 40
"""Numbers that are named when they stand nowhere, and digits of each."""
_UP_TO = 10
"""Whole numbers up to this may be said freely: people count sentences, options and reasons with them."""


class NumberInvented(InvalidArguments):
    """The words hold numbers that what they tell of does not."""

    code = "NUMBER_INVENTED"


def require_known(text: str, *known: Json) -> None:
    """Return when each number of a text stands in one of the values; raise NumberInvented with those that do not."""
    invented = invented_in(text, *known)
    if invented:
        raise NumberInvented(
            f"The result does not hold {', '.join(invented)}. Say only numbers that stand in it, or none.",
            numbers=list[Json](invented),
            happened="no",
        )


def invented_in(text: str, *known: Json) -> list[str]:
    """Return the first numbers of a text that stand in none of the values, neither rounded nor as per cent."""
    sayable = _sayable(number for value in known for number in numbers_in(value))
    invented = islice((said for said in dict.fromkeys(_said_in(text)) if not _is_in(said, sayable)), _TOLD)
    return [said if len(said) <= _LONG else f"{said[:_LONG]}…" for said in invented]


def numbers_in(value: Json) -> Iterator[Decimal]:
    """Yield every number of a value: those of its texts, lengths of its lists, and true numbers."""
    waiting: list[Json] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield from (_read(said) for said in _said_in(item, whole=True))
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield Decimal(repr(item))
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            yield Decimal(len(item))
            waiting.extend(item)


def _said_in(text: str, *, whole: bool = False) -> list[str]:
    """Return the numbers of a text as they are written; without `whole` not the small ones that count things."""
    said = [_GROUPS.sub("", found).strip(" ,_'\u202f\u00a0") for found in _NUMBER.findall(text)]
    parts = [part for each in said for part in re.split(r"[,_' \u202f\u00a0]+", each) if part]
    parts += (f"{value.normalize():f}" for value in spelled_in(text))
    return [part for part in parts if whole or "." in part or _read(part) > _UP_TO]


def _read(said: str) -> Decimal:
    return Decimal(said)


def _sayable(numbers: Iterable[Decimal]) -> Sequence[Decimal]:
    """Return what may be said of these numbers, itself and as per cent, in order: a result may hold very many."""
    finite = [number.copy_abs() for number in numbers if number.is_finite()]  # `abs` would round
    return sorted({*finite, *(number * 100 for number in finite)})


def _is_in(said: str, known: Sequence[Decimal]) -> bool:
    """Whether what is said is one of the numbers, cut to the digits that were said: one of its two neighbours is."""
    digits = len(said.partition(".")[2]) if "e" not in said.lower() else 12
    step, number = Decimal(1).scaleb(-digits), _read(said)
    at = bisect(known, number)
    return any(abs(each - number) < step for each in known[max(at - 1, 0) : at + 1])
