"""One request made fit for one endpoint: the body of `/chat/completions`, and what it takes to read the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from contracts import Json
from runtime.canonical import clean, clean_text
from runtime.model.answers.raw import Raw, RawCall
from runtime.model.answers.thoughts import apart
from runtime.model.port import ModelRequest
from runtime.model.profile import Calling, Profile
from runtime.model.requests.action import (
    SCHEMA_WORDS,
    TEXT_WORDS,
    action_schema,
    in_json,
    in_words,
    merged,
    read_action,
    tools_in_words,
)
from runtime.model.requests.errors import UnusableSchema
from runtime.model.requests.names import Names
from runtime.model.requests.offer import Offer, offer_of
from runtime.model.requests.pairing import check
from runtime.model.requests.schemas import Normalised, normalise

_ANY = "any"
_INSTRUCTING = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Built:
    """A request that can be sent. Parts of the body are shared with other requests: nobody may change it."""

    body: dict[str, Any]
    names: Names
    """Between our names of tools and those that the endpoint was told."""
    calling: Calling
    """How tools are offered."""
    dropped: tuple[tuple[str, str], ...]
    """Tools that could not be offered, with the reason; the name is empty for the schema of the output."""
    _offer: Offer
    _output: Normalised | None = None

    @property
    def offered(self) -> frozenset[str]:
        """The tools by the names that the endpoint was told."""
        return frozenset(self._offer.tools)

    def read(self, raw: Raw) -> Raw:
        """Return an answer with the action that it is as a call or as words; any other stays as it is."""
        if self.calling is Calling.NATIVE or raw.calls or not self._offer.tools:
            return raw
        words, thought = apart(raw.content)
        action = read_action(words)
        if action is None:
            return raw
        raw = replace(raw, content=action.words, reasoning=raw.reasoning or thought)
        return raw if action.tool is None else replace(raw, calls=(RawCall("", action.tool, action.arguments),))

    def restore(self, tool: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """Return the arguments of a call as the tool's own schema has them; those of an unknown tool as they are."""
        form = self._offer.form(tool)
        return form.restore(arguments) if form is not None else dict(arguments)

    def restore_output(self, output: Mapping[str, Json]) -> dict[str, Json]:
        """Return the object that words had to be as the schema that was asked for has it."""
        return self._output.restore(output) if self._output is not None else dict(output)


def build(
    request: ModelRequest, profile: Profile, *, model: str, stream: bool, most_tokens: int | None
) -> Built:  # fmt: skip
    """Return the request as this endpoint takes it.

    Args:
        model: the name that the endpoint knows it by.
        stream: whether the answer is wanted in parts; it is asked for so where the endpoint can.
        most_tokens: tokens of the answer at most, where the request says nothing; None asks for no limit.

    Raises:
        RequestUnfit: the messages make no conversation.
    """
    check(request.messages)
    calling = profile.calling
    native = calling is Calling.NATIVE
    offer = offer_of(request.tools, strict=native and profile.strict)
    form, dropped = _output_of(request, offer)
    body: dict[str, Any] = {"model": model, "messages": []}
    words = _needed_words(request, profile, offer, form)
    if native:
        body["messages"] = list(_native(request.messages, offer.names, profile))
        body |= _native_tools(request, profile, offer)
    else:
        body["messages"] = _plain(request.messages, offer, profile)
        if calling is Calling.SCHEMA and offer.tools:
            chosen = {alias: tool for alias, tool in offer.tools.items() if request.must_call in ("", _ANY, tool.name)}
            schema = action_schema(chosen or offer.tools, words=not request.must_call or not chosen)
            body["response_format"] = _held_to("action", schema)
    if form is not None and profile.json_schema:
        body["response_format"] = _held_to("output", form.schema, strict=form.strict)
    if words:
        body["messages"] = _with_words(body["messages"], words)
    body |= _limits(request, profile, stream=stream, most_tokens=most_tokens)
    return Built(body, offer.names, calling, (*offer.dropped, *dropped), offer, form)


def _output_of(request: ModelRequest, offer: Offer) -> tuple[Normalised | None, tuple[tuple[str, str], ...]]:
    if request.output is None or offer.tools:
        return None, ()
    try:
        return normalise(request.output, strict=True), ()
    except UnusableSchema as error:
        return None, (("", error.message),)


def _native_tools(request: ModelRequest, profile: Profile, offer: Offer) -> dict[str, Any]:
    if not offer.tools:
        return {}
    out: dict[str, Any] = {"tools": list(offer.entries)}
    if request.must_call == _ANY and profile.must_call:
        out["tool_choice"] = "required"
    elif request.must_call and profile.must_call and offer.form(request.must_call) is not None:
        out["tool_choice"] = {"type": "function", "function": {"name": offer.names.alias(request.must_call)}}
    if not profile.parallel:
        out["parallel_tool_calls"] = False
    return out


def _needed_words(request: ModelRequest, profile: Profile, offer: Offer, form: Normalised | None) -> str:
    """Return what has to be said at the end because the endpoint has no field for it that it heeds."""
    if form is not None and not profile.json_schema:
        return f"Answer with one JSON object that fits this schema, and nothing else: {in_json(form.schema)}"
    if not request.must_call or not offer.tools or (profile.calling is Calling.NATIVE and profile.must_call):
        return ""
    if request.must_call == _ANY:
        return "Answer with a call of a tool."
    return f"Answer with a call of the tool {offer.names.alias(request.must_call)}."


def _native(messages: Sequence[Mapping[str, Any]], names: Names, profile: Profile) -> Iterator[dict[str, Any]]:
    for message in messages:
        out: dict[str, Any] = {"role": _role(message, profile), "content": _clean(message.get("content"))}
        if "name" in message:
            out["name"] = message["name"]
        if message["role"] == "tool":
            out["tool_call_id"] = message["tool_call_id"]
        if message["role"] == "assistant" and message.get("tool_calls"):
            out["content"] = out["content"] or None  # an empty text beside calls is refused by some
            out["tool_calls"] = [_call(call, names) for call in message["tool_calls"]]
        yield out


def _call(call: Mapping[str, Any], names: Names) -> dict[str, Any]:
    function = call["function"]
    told = {"name": names.alias(function["name"]), "arguments": clean_text(function["arguments"])}
    return {"id": call["id"], "type": "function", "function": told}


def _plain(messages: Sequence[Mapping[str, Any]], offer: Offer, profile: Profile) -> list[dict[str, Any]]:
    """Return the conversation for an endpoint without tools, and with them in words."""
    schema = profile.calling is Calling.SCHEMA and bool(offer.tools)
    told = [
        {"role": _role(message, profile), "content": _clean(message["content"])}
        for message in in_words(messages, offer.names.alias, schema=schema)
    ]
    if offer.tools:
        how = tools_in_words(offer.tools, SCHEMA_WORDS if schema else TEXT_WORDS)
        place = next((place for place, each in enumerate(told) if each["role"] not in _INSTRUCTING), len(told))
        told.insert(place, {"role": "developer" if profile.developer else "system", "content": how})
    return merged(told)


def _with_words(messages: list[dict[str, Any]], words: str) -> list[dict[str, Any]]:
    return [*messages[:-1], *merged([messages[-1], {"role": "user", "content": words}])]


def _role(message: Mapping[str, Any], profile: Profile) -> str:
    role: str = message["role"]
    if role not in _INSTRUCTING:
        return role
    return "developer" if profile.developer else "system"


def _clean(content: Any) -> Any:
    return clean_text(content) if isinstance(content, str) else clean(content)


def _held_to(name: str, schema: Mapping[str, Any], *, strict: bool = False) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name, "schema": schema}
    return {"type": "json_schema", "json_schema": {**told, "strict": True} if strict else told}


def _limits(request: ModelRequest, profile: Profile, *, stream: bool, most_tokens: int | None) -> dict[str, Any]:
    out: dict[str, Any] = {}
    most = most_tokens if request.most_tokens is None else request.most_tokens
    if most is not None:
        out["max_completion_tokens" if profile.max_completion_tokens else "max_tokens"] = most
    if request.temperature is not None and profile.temperature:
        out["temperature"] = request.temperature
    if stream and profile.streams:
        out["stream"] = True
        if profile.stream_usage:
            out["stream_options"] = {"include_usage": True}
    return out
