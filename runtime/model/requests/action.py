"""Tools for endpoints that have none: each answer is one action, an object of a schema or of what the words ask for.

    {"tool": "desk_find", "arguments": {"day": "2013-02-08"}}
    {"tool": "none", "words": "There are 213."}

Past calls are told in the same form, so that the conversation shows what an answer looks like; results come as
messages of the user. Neighbours of one role are one message, since many of these endpoints want roles to take turns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.model.requests.offer import NO_TOOL, Tool
from runtime.model.requests.parts import mapped
from runtime.strict_json import read_json

_FENCE = "```"
_CALL = '{"tool": "NAME", "arguments": {…}}'
_ONE = "Use one tool at a time; the next message brings its result."
SCHEMA_WORDS = (
    f"Every answer is one JSON object and nothing else. To use a tool: {_CALL}, with arguments that fit its schema. "
    f'To say something instead: {{"tool": "{NO_TOOL}", "words": "…"}}. {_ONE}'
)
TEXT_WORDS = (
    f"To use a tool, answer with one JSON object and nothing else: {_CALL}, with arguments that fit its schema. {_ONE} "
    "To say something instead, answer in words alone."
)


@dataclass(frozen=True, slots=True)
class Action:
    """What an answer says is to be done."""

    tool: str | None
    """The alias of a tool; None where there are words instead."""
    arguments: str = ""
    """JSON."""
    words: str = ""


def action_schema(tools: Mapping[str, Tool], *, words: bool = True) -> dict[str, Any]:
    """Return the JSON Schema of an action with one of the tools (alias → tool), and with `words` of one without."""
    choices: list[Mapping[str, Any]] = []
    defs: dict[str, Any] = {}
    for alias, tool in tools.items():
        choice, own = tool.remembered("choice", alias, _choice)
        choices.append(choice)
        defs.update(own)
    if words or not choices:
        choices.append(_closed({"tool": {"type": "string", "enum": [NO_TOOL]}, "words": {"type": "string"}}))
    return {"anyOf": choices, **({"$defs": defs} if defs else {})}


def read_action(text: str) -> Action | None:
    """Return the action that an answer is; None where it is something else."""
    text = text.strip()
    if len(text) >= 2 * len(_FENCE) and text.startswith(_FENCE) and text.endswith(_FENCE):
        text = text.removeprefix(_FENCE).removeprefix("json").removesuffix(_FENCE)
    try:
        found = read_json(text, once=True)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(tool := found.get("tool"), str):
        return None
    if found.keys() == {"tool", "words"} and tool == NO_TOOL and isinstance(found["words"], str):
        return Action(None, words=found["words"])
    if found.keys() == {"tool", "arguments"} and tool != NO_TOOL:
        arguments = found["arguments"]
        return Action(tool, arguments if isinstance(arguments, str) else in_json(arguments))
    return None


def tools_in_words(tools: Mapping[str, Tool], how: str) -> str:
    """Return what is said about the tools where the endpoint tells the model nothing of them."""
    lines = (tool.remembered("line", alias, _line) for alias, tool in tools.items())
    return "\n".join((how, "", "Tools:", *lines))


def in_words(
    messages: Iterable[Mapping[str, Any]], alias: Callable[[str], str], *, schema: bool
) -> Iterator[dict[str, Any]]:
    """Yield the conversation without calls and results; with `schema` words of the past are actions too."""
    called: dict[str, str] = {}
    results: dict[str, Any] = {}
    messages = list(messages)
    for message in messages:
        if message["role"] == "tool":
            results[message["tool_call_id"]] = message.get("content")
    for message in messages:
        if message["role"] == "tool":
            continue
        calls = message.get("tool_calls") or ()
        if message["role"] != "assistant":
            yield {"role": message["role"], "content": message.get("content") or ""}
            continue
        words = _text(message.get("content"))
        if not calls:
            yield {"role": "assistant", "content": in_json({"tool": NO_TOOL, "words": words}) if schema else words}
        for place, call in enumerate(calls):
            name = called[call["id"]] = alias(call["function"]["name"])
            action = in_json({"tool": name, "arguments": json.loads(call["function"]["arguments"])})
            before = f"{words}\n" if words and not place and not schema else ""
            yield {"role": "assistant", "content": f"{before}{action}"}
            yield _result(name, results.get(call["id"]))


def in_json(value: Any) -> str:
    """Return JSON in the order in which things are said: which tool comes before its arguments."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def merged(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with neighbours of one role as one."""
    out: list[dict[str, Any]] = []
    for message in messages:
        if out and out[-1]["role"] == message["role"]:
            out[-1] = {**out[-1], "content": _joined(out[-1]["content"], message["content"])}
        else:
            out.append(message)
    return out


def _result(name: str, content: Any) -> dict[str, Any]:
    return {"role": "user", "content": _joined(f"Result of {name}:", content, "\n")}


def _joined(first: Any, second: Any, between: str = "\n\n") -> Any:
    """Return two contents as one: texts with a gap, anything else as a list of parts."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}{between}{second}"
    return [*_parts(first), *_parts(second)]


def _text(content: Any) -> str:
    return "\n".join(str(part.get("text", "")) for part in _parts(content))


def _parts(content: Any) -> Sequence[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def _line(alias: str, tool: Tool) -> str:
    assert tool.form is not None
    return f"- {alias}: {tool.description}\n  arguments: {in_json(tool.form.schema)}"


def _choice(alias: str, tool: Tool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of a call of the tool, and the definitions that it needs under names of its own."""
    assert tool.form is not None
    schema, defs = _apart(tool.form.schema, f"{alias}.")
    return _closed({"tool": {"type": "string", "enum": [alias]}, "arguments": schema}), defs


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _apart(schema: Mapping[str, Any], prefix: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a schema and its definitions under names that no other tool's have."""

    def renamed(_: str, inner: Any) -> Any:
        if not isinstance(inner, dict):
            return inner
        out = mapped(inner, renamed)
        reference = out.get("$ref")
        if not isinstance(reference, str):
            return out
        return {**out, "$ref": reference.replace("#/$defs/", f"#/$defs/{prefix}", 1)}

    defs = schema.get("$defs", {})
    body = {keyword: held for keyword, held in schema.items() if keyword != "$defs"}
    if not defs:
        return body, {}
    return renamed("", body), {f"{prefix}{name}": renamed("", each) for name, each in defs.items()}
