"""`step_control`: how a model says that its step is done, blocked, needs a person or another plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from contracts import Json
from runtime.engine.react.state import Call, Turn
from runtime.errors import BusinessRefusal, InvalidArguments
from runtime.schema import fault_of, json_schema_of

CONTROL = "step_control"
"""The tool's name."""


class Say(StrEnum):
    """What a model can say about its step."""

    DONE = "done"
    BLOCKED = "blocked"
    NEED_INPUT = "need_input"
    REPLAN = "replan"


class StepBlocked(BusinessRefusal):
    """The model says that the step cannot be done."""

    code = "STEP_BLOCKED"


class ReplanAsked(BusinessRefusal):
    """The model says that the plan does not fit any more."""

    code = "REPLAN_ASKED"


@dataclass(frozen=True, slots=True)
class Control:
    """One `step_control` call that can be understood."""

    say: Say
    output: Json = None
    """Of `done`: what the step gives."""
    words: str = ""
    """The reason, the question or the why."""
    choices: tuple[str, ...] = ()
    """Of `need_input`: the answers allowed; empty allows any."""


_LONGEST, _LONGEST_CHOICE, _MOST_CHOICES = 2_000, 200, 20
"""Characters of a question and of a choice, and choices, that a person is shown."""
_WORDS = {Say.BLOCKED: "reason", Say.NEED_INPUT: "question", Say.REPLAN: "why"}


def control_tool(gives: Mapping[str, Json]) -> dict[str, Any]:
    """Return the declaration of the tool for a step that gives these fields."""
    return {
        "type": "function",
        "function": {
            "name": CONTROL,
            "description": "Say how the step stands: `done` with its output, `blocked` with the reason, "
            "`need_input` with a question to a person, or `replan` with why the plan does not fit.",
            "parameters": _schema(gives),
        },
    }


def read_control(call: Call, gives: Mapping[str, Json]) -> Control:
    """Return what the call says; raise InvalidArguments where it cannot be understood."""
    fault = call.fault or fault_of(dict(call.arguments), _schema({}))
    if fault:
        raise InvalidArguments(f"The arguments do not fit {CONTROL}: {fault}", happened="no")
    say = Say(str(call.arguments["say"]))
    words = str(call.arguments.get(_WORDS.get(say, ""), "") or "").strip()
    output = call.arguments.get("output")
    if say in _WORDS and not words:
        raise InvalidArguments(f"{CONTROL} with {say} needs `{_WORDS[say]}`.", happened="no")
    if say is Say.DONE and output is None and gives:
        raise InvalidArguments(f"{CONTROL} with done needs `output` with: {', '.join(gives)}.", happened="no")
    choices = call.arguments.get("choices")
    told = (str(choice).strip() for choice in choices) if isinstance(choices, list) else ()
    return Control(say, output, words, tuple(dict.fromkeys(filter(None, told))))


def require_readable(said: Control) -> None:
    """Return for a question that a person can read and answer; raise InvalidArguments for one that is too long."""
    longest = max(map(len, said.choices), default=0)
    if len(said.words) > _LONGEST or len(said.choices) > _MOST_CHOICES or longest > _LONGEST_CHOICE:
        raise InvalidArguments(
            f"The question is too long for a person. Ask in {_LONGEST:,} characters at most, with {_MOST_CHOICES} "
            f"choices of {_LONGEST_CHOICE} characters at most.",
            happened="no",
        )


def ending(turn: Turn) -> Call | None:
    """Return the call with which the model ends the step in this answer, if it does."""
    return next((call for call in turn.calls if is_ending(call) and not call.settled), None)


def is_ending(call: Call) -> bool:
    """Whether the call says that the step is over, in whatever way; one that cannot be understood does not."""
    return call.name == CONTROL and not call.fault and call.arguments.get("say") in (Say.DONE, Say.BLOCKED, Say.REPLAN)


def _schema(gives: Mapping[str, Json]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "say": {"enum": [say.value for say in Say]},
            "output": json_schema_of(gives) if gives else {},
            "reason": {"type": ["string", "null"]},
            "question": {"type": ["string", "null"]},
            "choices": {"type": ["array", "null"], "items": {"type": "string"}},
            "why": {"type": ["string", "null"]},
        },
        "required": ["say"],
        "additionalProperties": False,
    }
