"""The data bus: in which form the inputs of a step reach its prompt, and what is listed beside them.

All of it has one room. Where that does not hold everything, the largest input that may be shortened is, until it does;
of what is stored, what the step depends on is listed first, then the newest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from contracts import Json, Materialisation
from runtime.canonical import clean, sha256, to_bytes
from runtime.context.blocks import INDEX
from runtime.context.digest import gist
from runtime.context.parts import Form, Part
from runtime.context.result_store import marker
from runtime.settings.context import ContextSettings


@dataclass(frozen=True, slots=True)
class Input:
    """One value that a step is given."""

    name: str
    value: Json
    text: str
    """Its canonical text."""
    ref: str
    form: Materialisation
    """In which form it reaches the prompt."""
    condensed: str = ""
    """What a model made of it, where its plan declares `summary` and it is long."""


def materialised(
    values: Mapping[str, Json], declared: Mapping[str, Materialisation], settings: ContextSettings
) -> Sequence[Input]:
    """Return the inputs of a step, each in the form in which it is shown.

    What the plan declares holds. Without that, a value of `prefetch_chars` or less is shown whole, and a larger one by
    its reference with a digest; so is the largest of the others, as long as all together take more than `bus_chars`.
    """
    texts = {name: to_bytes(clean(values[name])).decode() for name in sorted(values)}  # as the ledger has them
    forms = {name: declared.get(name, _by_size(text, settings)) for name, text in texts.items()}
    taken = sum(_taken(forms[name], text, settings) for name, text in texts.items())
    open_ones = sorted((name for name in texts if name not in declared), key=lambda name: len(texts[name]))
    while taken > settings.bus_chars and open_ones:
        largest = open_ones.pop()
        if forms[largest] is Materialisation.FULL and len(texts[largest]) > settings.datum_chars:
            forms[largest] = Materialisation.SUMMARY
            taken -= len(texts[largest]) - min(len(texts[largest]), settings.digest_chars)
    return [Input(name, values[name], text, sha256(values[name]), forms[name]) for name, text in texts.items()]


def standing_for(each: Input, settings: ContextSettings, *, briefly: bool = False) -> dict[str, Json]:
    """Return what stands in the prompt for an input that is not shown whole; `briefly` without samples of it."""
    told = marker(each.value, settings, ref=each.ref, tool=None, length=len(each.text))
    if each.condensed:
        told["__summary"] = each.condensed
    if briefly:
        told["__summary"] = brief(str(told["__summary"]), settings)
    if each.form is Materialisation.REFERENCE:
        told.pop("__summary")
    return told


def brief(summary: str, settings: ContextSettings) -> str:
    """Return the beginning of a digest: what the data is and how large, and its first fields."""
    return summary if len(summary) <= settings.listed_chars else f"{summary[: settings.listed_chars]}…"


def _by_size(text: str, settings: ContextSettings) -> Materialisation:
    return Materialisation.FULL if len(text) <= settings.prefetch_chars else Materialisation.SUMMARY


def _taken(form: Materialisation, text: str, settings: ContextSettings) -> int:
    return len(text) if form is Materialisation.FULL else min(len(text), settings.digest_chars)


@dataclass(frozen=True, slots=True)
class Listed:
    """A stored result of an earlier step."""

    step: str
    ref: str
    length: int
    """Characters of the whole."""
    about: str
    """What code says of it, in a line or two."""


def about(value: Json, settings: ContextSettings, *, length: int) -> str:
    """Return what the index says of a stored value."""
    return gist(value, limit=settings.listed_chars, length=length)


def index_parts(listed: Iterable[Listed], settings: ContextSettings, *, room: int) -> Iterator[Part]:
    """Yield a line for each stored result, in their order, as far as there is room; the rest is counted.

    Args:
        room: characters of the data bus that the inputs left; the index takes no more than its own share of it.
    """
    head = "Stored results of earlier steps; look into them by their reference:"
    left, there = min(room, settings.index_chars) - len(head), list(listed)
    for number, each in enumerate(there):
        line = f"- step {each.step}: {each.about}; ref {each.ref}"
        left -= len(line) + 2
        if left < 0:
            if number:
                yield Part(INDEX, f"… and {len(there) - number:,} more", "the index of stored data")
            return
        if not number:
            yield Part(INDEX, head, "the index of stored data")
        yield Part(INDEX, line, origin_of(each.step), each.ref, Form.SUMMARY)


def origin_of(step: str) -> str:
    """Return where a line of the index comes from."""
    return f"step {step}, output"
