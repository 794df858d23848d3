"""What an answer is: calls, words, or nothing usable, and then why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from contracts import Json, Usage
from runtime.canonical import clean, clean_text
from runtime.model.answers.arguments import read_arguments
from runtime.model.answers.raw import Raw, RawCall
from runtime.model.answers.reasons import cut_by
from runtime.model.answers.thoughts import apart
from runtime.model.port import Ending, ModelAnswer, ToolCall

NAMELESS = "unnamed"
"""The name of a call that names no tool: the model is told, as of any tool that there is not."""
LONGEST_NAME = 200


def answer_of(raw: Raw, *, name_of: Callable[[str], str], usage: Usage) -> ModelAnswer:
    """Return what an answer is.

    Calls are there only when the answer is whole and ended well. A call whose arguments cannot be read carries the
    fault and no arguments; what it said stands in `facts["unread"]`, for people alone.

    Args:
        name_of: returns our name of a tool for the one that the endpoint was told; a name it does not know, as it is.
    """
    words, thought = apart(raw.content)
    reasoning = raw.reasoning.strip() or thought.strip()
    ending = _ending(raw, words, reasoning)
    calls = tuple(_calls(raw.calls, name_of)) if ending is Ending.DONE else ()
    content = raw.refusal if ending is Ending.REFUSED else words
    facts = _facts(raw, reasoning, calls)
    return ModelAnswer(clean_text(content) if content.strip() else "", calls, usage, facts, ending)


def _ending(raw: Raw, words: str, reasoning: str) -> Ending:
    cut = cut_by(raw.finish_reason)
    if cut is not None:
        return cut
    if raw.error or (raw.streamed and raw.finish_reason is None):
        return Ending.BROKEN_OFF
    if raw.refusal.strip():
        return Ending.REFUSED
    if raw.calls or words.strip():
        return Ending.DONE
    return Ending.REASONING_ONLY if reasoning else Ending.EMPTY


def _calls(raw: Sequence[RawCall], name_of: Callable[[str], str]) -> Iterator[ToolCall]:
    taken: set[str] = set()
    for number, call in enumerate(raw, 1):
        arguments, fault = read_arguments(call.arguments)
        told = clean_text(call.name).strip()[:LONGEST_NAME]
        name = name_of(told) if told else NAMELESS
        yield ToolCall(_unique(clean_text(call.id), number, taken), name, arguments, fault)


def _unique(ident: str, number: int, taken: set[str]) -> str:
    """Return an id that no call of this answer has yet."""
    ident = unique = ident or f"call_{number}"
    while unique in taken:
        unique, number = f"{ident}_{number}", number + 1
    taken.add(unique)
    return unique


def _facts(raw: Raw, reasoning: str, calls: Sequence[ToolCall]) -> Mapping[str, Json]:
    unread = {call.id: told.arguments for call, told in zip(calls, raw.calls, strict=False) if call.fault}
    facts: dict[str, Any] = {
        "model": raw.model,
        "finish_reason": raw.finish_reason,
        "reasoning": reasoning,
        "usage": raw.usage,
        "error": raw.error,
        "faults": list(raw.faults),
        "unread": unread,
        "calls_not_made": 0 if calls else len(raw.calls),
    }
    return {name: _kept(value) for name, value in facts.items() if value}


def _kept(value: Any) -> Json:
    try:
        return clean(value)
    except RecursionError:
        return "(nested too deep)"
