"""Whether messages make a conversation: every result behind its call, every call with its result, nothing empty.

Endpoints refuse a request for any of this, some with a fault of their own that looks like one that passes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runtime.model.requests.errors import Fault, RequestUnfit

ROLES = ("system", "developer", "user", "assistant", "tool")
MOST_MESSAGES = 2_048
MOST_CHARACTERS = 10_000_000
"""Of one text."""
LONGEST_ID = 40
_NAME = re.compile(r"[^\s<|\\/>]{1,64}")


def check(messages: Sequence[Any]) -> None:
    """Return when the messages make a conversation; raise RequestUnfit with every fault."""
    faults = faults_of(messages)
    if faults:
        raise RequestUnfit(faults)


def faults_of(messages: Sequence[Any]) -> tuple[Fault, ...]:
    """Return everything that is wrong, in the order of the messages."""
    found = [*_of_whole(messages)]
    pairs = _Pairs()
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping):
            found.append(Fault(number, "It is no object with a role. Mend whoever made it."))
        elif message.get("role") not in ROLES:
            role = str(message.get("role"))[:40]
            found.append(Fault(number, f"The role {role!r} is not known. There is: {', '.join(ROLES)}."))
        else:
            found.extend(Fault(number, what) for what in _of_message(message))
            found.extend(pairs.take(number, message))
    found.extend(pairs.end())
    return tuple(sorted(found, key=lambda fault: fault.message))


class _Pairs:
    """Follows calls and results through the conversation."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._open: dict[str, str] = {}
        self._asked = 0

    def take(self, number: int, message: Mapping[str, Any]) -> Iterator[Fault]:
        if message["role"] == "tool":
            yield from self._result(number, message.get("tool_call_id"))
            return
        yield from self.end()
        for call in _calls(message):
            ident = call.get("id")
            if not isinstance(ident, str) or not ident:
                yield Fault(number, "A call has no id. Give each its own.")
            elif ident in self._seen:
                yield Fault(number, f"The call {ident} has the id of an earlier one. Give each its own.")
            else:
                self._seen.add(ident)
                self._open[ident] = _name_of(call)
                self._asked = number

    def end(self) -> Iterator[Fault]:
        """Yield what was left without a result when something else follows."""
        for ident, name in self._open.items():
            yield Fault(
                self._asked,
                f"The call {ident} of {name} has no result. Put its result behind it, or leave both out.",
            )
        self._open = {}

    def _result(self, number: int, ident: object) -> Iterator[Fault]:
        if isinstance(ident, str) and ident in self._open:
            del self._open[ident]
        elif not isinstance(ident, str) or not ident:
            yield Fault(number, "A result does not say of which call it is (tool_call_id).")
        elif ident in self._seen:
            yield Fault(number, f"This is a second result of the call {ident}, or stands apart from it. Keep one.")
        else:
            yield Fault(number, f"This is the result of the call {ident}, which is not there. Leave both out or none.")


def _of_whole(messages: Sequence[Any]) -> Iterator[Fault]:
    if len(messages) > MOST_MESSAGES:
        yield Fault(0, f"There are {len(messages):,} messages, and {MOST_MESSAGES:,} are the most. Summarise old ones.")
    if not any(isinstance(message, Mapping) and message.get("role") == "user" for message in messages):
        yield Fault(0, "There is no message of the role user, so nothing says what the job is. Put it back.")


def _of_message(message: Mapping[str, Any]) -> Iterator[str]:
    role, content = message["role"], message.get("content")
    calls = message.get("tool_calls")
    texts = list(_texts(content))
    if content is not None and not isinstance(content, str | list):
        yield "Its content is neither text nor a list of parts."
    elif role == "assistant" and not calls and not any(text.strip() for text in texts):
        yield "It says nothing and calls nothing. Leave it out."
    elif role in ("user", "system", "developer") and not any(text.strip() for text in texts):
        yield "It is empty. Leave it out."
    elif role == "tool" and content is None:
        yield "The result has no content. Give it a text, which may be empty."
    for text in texts:
        if len(text) > MOST_CHARACTERS:
            yield f"It holds {len(text):,} characters, and {MOST_CHARACTERS:,} are the most. Store it, and show less."
    name = message.get("name")
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        yield f"The name {str(name)[:80]!r} is none that endpoints take: 1–64 characters without spaces or <|\\/>."
    if calls is not None:
        yield from _of_calls(role, calls)


def _of_calls(role: str, calls: Any) -> Iterator[str]:
    if role != "assistant":
        yield f"A message of the role {role} calls nothing. Leave its tool_calls out."
    elif not isinstance(calls, list | tuple) or not calls:
        yield "Its tool_calls are no list with something in it. Leave them out."
    else:
        for call in calls:
            if not isinstance(call, Mapping) or not isinstance(call.get("function"), Mapping):
                yield "A call names no function."
                continue
            ident = call.get("id")
            if isinstance(ident, str) and len(ident) > LONGEST_ID:
                yield f"The id {ident[:60]}… has more than {LONGEST_ID} characters. Make it shorter."
            if not isinstance(call["function"].get("name"), str) or not call["function"]["name"]:
                yield "A call has no name of a tool."
            if not _is_object(call["function"].get("arguments")):
                yield f"The arguments of the call of {_name_of(call)} are no JSON object. Such a call is never stored."


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls")
    if message["role"] != "assistant" or not isinstance(calls, list | tuple):
        return []
    return [call for call in calls if isinstance(call, Mapping)]


def _name_of(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    return str(function.get("name"))[:80] if isinstance(function, Mapping) else "?"


def _texts(content: Any) -> Iterator[str]:
    """Yield the texts of a content; a part that is no text counts as one that is not empty."""
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, Mapping) else None
        yield text if isinstance(text, str) else "…"


def _is_object(text: Any) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
