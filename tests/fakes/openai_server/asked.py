"""One request as an endpoint gets it, and what an endpoint supports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

SECRET = frozenset({"authorization", "api-key", "x-api-key", "cookie", "proxy-authorization"})


@dataclass(frozen=True)
class Quirks:
    """What an endpoint makes of the protocol; the defaults are what the protocol promises."""

    calls: Literal["native", "never", "text"] = "native"
    """How tools are called: as the protocol says, never although they are accepted, or as JSON text in the words."""
    obeys_tool_choice: bool = True
    """Whether `sensible` looks at `tool_choice`."""
    parallel: bool = True
    """Whether one answer may hold several calls; if not, the first one is all that comes."""
    json_schema: Literal["held", "ignored", "broken"] = "held"
    """`broken` answers a request with a schema by a fault of its own: 500."""
    json_object: Literal["held", "ignored", "broken"] = "held"
    developer: Literal["taken", "refused", "broken"] = "taken"
    """What becomes of the role `developer`: taken, refused with 400, or answered with 500."""
    strict: Literal["taken", "refused", "broken"] = "taken"
    """What becomes of a tool that is declared `strict`."""
    streams: bool = True
    """Whether a stream comes when one is asked for; if not, the whole answer comes at once."""
    stream_usage: Literal["asked", "never", "each"] = "asked"
    """Whether streams tell what they took: when it is asked for, never, or in each chunk so far."""
    refused: frozenset[str] = frozenset()
    """Names of parameters that are answered with 400: `n`, `stream_options`, `tool_choice`, …"""
    hangs_up_on: frozenset[str] = frozenset()
    """Names of parameters at which it ends the connection without a word."""
    context_tokens: int | None = None
    """A request that is longer than this, at four characters a token, is refused as endpoints do it."""


@dataclass(frozen=True)
class Asked:
    """One request as it came in, without the secrets of its headers."""

    method: str
    path: str
    """Without the `/v1` in front."""
    headers: Mapping[str, str]
    body: bytes
    number: int = 1
    """Which request it is of those that the server got at this path, from 1 on."""
    quirks: Quirks = field(default_factory=Quirks)

    @cached_property
    def json(self) -> dict[str, Any]:
        """The body, read."""
        value = json.loads(self.body) if self.body else {}
        assert isinstance(value, dict), "the body of a request has to be an object"
        return value

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        return list(self.json.get("messages", []))

    @property
    def roles(self) -> list[str]:
        return [str(message.get("role")) for message in self.messages]

    @property
    def tools(self) -> list[Mapping[str, Any]]:
        """The functions that may be called, as they were declared."""
        return [tool["function"] for tool in self.json.get("tools") or []]

    @property
    def tool_names(self) -> list[str]:
        return [tool["name"] for tool in self.tools]

    @property
    def stream(self) -> bool:
        return bool(self.json.get("stream"))

    @property
    def wants_usage(self) -> bool:
        return bool((self.json.get("stream_options") or {}).get("include_usage"))

    @property
    def format(self) -> str:
        """The type of `response_format`: `text`, `json_object` or `json_schema`."""
        return str((self.json.get("response_format") or {}).get("type", "text"))

    @property
    def schema(self) -> Mapping[str, Any]:
        """The schema that the answer is to be held to; empty where there is none."""
        form = self.json.get("response_format") or {}
        return (form.get("json_schema") or {}).get("schema") or {}


def without_secrets(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers under their names in small letters; of a secret only the scheme is left."""
    told: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode().lower(), raw_value.decode("latin-1")
        told[name] = f"{value.split(' ')[0]} …" if name in SECRET else value
    return told
