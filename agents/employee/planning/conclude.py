"""Synthesis by a model: what came of a goal in a few sentences, with no number that the result does not hold."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice

from contracts import Json, Parameter, Tier, ValueType
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, Waiting
from runtime.errors import InvalidArguments

CONCLUDE = "state_result"
REACHED = ("yes", "partly", "no")
_NUMBER = re.compile(r"\d[\d,_' \u202f\u00a0]*(?:\.\d+)?(?:[eE][+-]?\d{1,3}(?!\d))?|\.\d+")
_GROUPS = re.compile(r"[,_' \u202f\u00a0](?=\d{3}(?!\d))")
_TOLD, _LONG = 5, 40
"""Numbers that are named when they do not stand in the result, and digits of each."""
_UP_TO = 10
"""Whole numbers up to this may be said freely: people count sentences, options and reasons with them."""

SPEC = CapabilitySpec(
    name=CONCLUDE,
    kind="builtin_tool",
    description="States what came of the goal. Numbers that do not stand in the result are refused.",
    parameters={
        "text": Parameter(type=ValueType.STRING, description="A few sentences, in the language of the order."),
        "reached": Parameter(
            type=ValueType.STRING, choices=REACHED, description="Whether the result is what the goal asks for."
        ),
        "result": Parameter(type=ValueType.ANY, required=False, description="What came of it; code fills it in."),
    },
    gives={"text": "string", "reached": "string"},
    tier=Tier.COGNITIVE,
    ends_step=True,
)


class NumberInvented(InvalidArguments):
    """The words hold numbers that the result does not."""

    code = "NUMBER_INVENTED"


class StateResult:
    """Takes a conclusion only when each of its numbers stands in the result or the goal, rounded or as per cent."""

    spec = SPEC

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult | Waiting:
        """Return the conclusion; raise NumberInvented with the numbers that stand nowhere."""
        text = str(arguments["text"])
        known = _sayable((*numbers_in(arguments.get("result")), *numbers_in(context.order.objective)))
        invented = list(islice((said for said in dict.fromkeys(_said_in(text)) if not _is_in(said, known)), _TOLD))
        if invented:
            invented = [said if len(said) <= _LONG else f"{said[:_LONG]}…" for said in invented]
            named = ", ".join(invented)
            raise NumberInvented(
                f"The result does not hold {named}. Say only numbers that stand in it, or none.",
                numbers=list[Json](invented), happened="no",
            )  # fmt: skip
        return CallResult({"text": text, "reached": arguments["reached"]})


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
