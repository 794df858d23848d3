"""The ways in which models write calls when they write them as text.

A text is read from its beginning to its end: marks are passed over, objects and `name {…}` are calls, and anything
else makes the whole of it words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from runtime.model.answers.fields import json_text_of, text_of
from runtime.model.answers.pythonic import calls_of_code
from runtime.model.answers.raw import RawCall
from runtime.strict_json import read_json

_NAME = r"[\w.\-]{1,200}"
_BETWEEN = re.compile(
    r"""(?: [\s,;]
    | ```[\w\-]*                                                    # fences
    | </?(?:tool_call|function_call|tool|function)s?>               # Hermes, Qwen and their like
    | \[/?TOOL_CALLS\]                                              # Mistral
    | <\|python_tag\|> | <\|eom_id\|> | <\|eot_id\|> | <\|im_end\|> # Llama
    | <\|tool_calls?(?:_section|_argument)?_(?:begin|end)\|>        # Kimi
    | <\|call\|>                                                    # gpt-oss
    )+""",
    re.VERBOSE,
)
_INTRODUCED = re.compile(  # possessive, so that no text takes longer than its length
    rf"""(?:
      <function=(?P<tag>{_NAME})>                                                       # Llama
    | (?:Thought:[^\n]*+\n++)? Action:[ ]*+(?P<action>{_NAME})[ ]*+\n++ Action[ ]Input: # ReAct in words
    | (?:<\|start\|>assistant)? (?:<\|channel\|>\w++)? \s*+ to=(?P<to>{_NAME})
      (?:<\|channel\|>\w++)? \s*+ (?:<\|constrain\|>)? (?:json)? \s*+ <\|message\|>    # gpt-oss
    | (?P<plain>{_NAME})(?::\d++)? (?:\[ARGS\]|<\|tool_call_argument_begin\|>)?         # Mistral, Kimi
    ) \s*+ (?P<opened>\(?) \s*+ (?=\{{\s*+["}}] | \))""",
    re.VERBOSE,
)
_SPACE, _OPENING = re.compile(r"\s*"), re.compile(r"[\s\[]*")
_BEGUN = re.compile(r'\{\s*"(?:name|tool|tool_name|function|function_name|action)"\s*:\s*"([^"\\]+)"')
_NAMES = ("name", "tool", "tool_name", "function", "function_name", "action", "recipient_name")
_SURE = frozenset(_NAMES) - {"name", "action"}
"""Keys that say so clearly that something is called that there need not be any arguments."""
_ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input", "action_input", "params")
_BESIDE = frozenset({"id", "type", "call_id", "thought", "thoughts", "reasoning"})
_WRAPPERS = ("tool_calls", "tool_call", "function_calls", "function_call", "tool_uses", "calls")
_DECODER = json.JSONDecoder()


class _Words(Exception):
    """It is no call after all."""


def written_in(text: str) -> Sequence[RawCall]:
    """Return the calls that a text consists of; none where it is anything but calls."""
    try:
        return list(_read(text))
    except _Words:
        return calls_of_code(text)


def _read(text: str) -> Iterator[RawCall]:
    at = _after(_BETWEEN, text, 0)
    while at < len(text):
        introduced = _INTRODUCED.match(text, at)
        if introduced:
            at, call = _read_introduced(text, introduced)
            yield call
        elif text[at] in "{[":
            end, found = _read_value(text, at)
            yield from found
            at = end
        else:
            raise _Words
        at = _after(_BETWEEN, text, at)


def _read_introduced(text: str, match: re.Match[str]) -> tuple[int, RawCall]:
    """Return the end of a call whose name stands before its arguments, and the call."""
    name = match["tag"] or match["action"] or match["to"] or match["plain"]
    if not name:
        raise _Words
    start = end = match.end()
    if text[start : start + 1] == "{":
        end, _ = _decoded(text, start)
    elif not match["opened"]:
        raise _Words
    arguments = text[start:end]
    if match["opened"] and end < len(text):
        end = _after(_SPACE, text, end)
        if text[end : end + 1] != ")":
            raise _Words
        end += 1
    return end, RawCall("", name, arguments)


def _read_value(text: str, start: int) -> tuple[int, list[RawCall]]:
    """Return the end of a JSON value that stands in a text, and the calls that it is."""
    end, value = _decoded(text, start)
    if value is None:
        begun = _BEGUN.match(text, _after(_OPENING, text, start))
        if begun is None:
            raise _Words
        return end, [RawCall("", begun[1], text[start:])]
    calls = [_call_of(each) for each in _unwrapped(value)]
    try:
        read_json(text[start:end], once=True)
    except (ValueError, RecursionError):  # what makes the text unreadable makes the arguments unreadable
        calls = [RawCall(call.id, call.name, text[start:end]) for call in calls]
    return end, calls


def _decoded(text: str, start: int) -> tuple[int, Any]:
    """Return where a JSON value ends, and the value; the end of the text and None where it does not end."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return len(text), None
    return end, value


def _unwrapped(value: Any) -> list[Any]:
    """Return the objects of which each has to be a call."""
    if isinstance(value, dict) and len(value) == 1:
        name, inner = next(iter(value.items()))
        value = inner if name in _WRAPPERS else value
    if not value:
        raise _Words
    return value if isinstance(value, list) else [value]


def _call_of(value: Any) -> RawCall:
    """Return the call that an object says: a name, arguments, and nothing that a call does not have."""
    if not isinstance(value, dict):
        raise _Words
    if isinstance(inner := value.get("function"), dict) and not value.keys() - {"function", *_BESIDE}:
        value = {**inner, **{key: value[key] for key in ("id",) if key in value}}
    names = [key for key in _NAMES if isinstance(value.get(key), str)]
    given = [key for key in _ARGUMENTS if key in value]
    if len(names) != 1 or len(given) > 1 or value.keys() - {*names, *given, *_BESIDE}:
        raise _Words
    if not given and names[0] not in _SURE:
        raise _Words
    return RawCall(text_of(value.get("id")), value[names[0]], json_text_of(value[given[0]]) if given else "")


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
