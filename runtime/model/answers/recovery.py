"""Calls that a model wrote as text, because its endpoint does not read them or was never told how."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from runtime.model.answers.raw import Raw, RawCall
from runtime.model.answers.thoughts import apart
from runtime.model.answers.written import written_in

AS_TEXT = "calls came as text"
"""The fault by which it can be counted how often this was of use."""
_PREFIX = "functions."


def recover(raw: Raw, known: Collection[str]) -> Raw:
    """Return an answer with the calls that its words are; as it is where they are anything else.

    Words are calls only where nothing else is said and each names a known tool exactly: text that mentions a call is
    text. A call that begins as one and cannot be read is one whose arguments are at fault.

    Args:
        known: names of tools as the model was told them.
    """
    if raw.calls or not known:
        return raw
    words, thought = apart(raw.content)
    calls = _named(written_in(words), known)
    if not calls:
        return raw
    faults = (*raw.faults, AS_TEXT)
    return replace(raw, content="", reasoning=raw.reasoning or thought, calls=calls, faults=faults)


def _named(written: Sequence[RawCall], known: Collection[str]) -> tuple[RawCall, ...]:
    """Return the calls if all of them are calls of known tools, else none."""
    calls = []
    for each in written:
        name = each.name if each.name in known else each.name.removeprefix(_PREFIX)
        if name not in known:
            return ()
        calls.append(RawCall(each.id, name, each.arguments))
    return tuple(calls)
