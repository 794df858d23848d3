"""What an endpoint really supports for one model: found out once, remembered, and the reason for how it is asked.

Two honest endpoints of the same protocol may share next to nothing: one never answers with the tools it accepts,
another refuses a schema with a fault of its own, a third leaves the usage out of its streams.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from contracts import Json


class Calling(StrEnum):
    """How tools are offered."""

    NATIVE = "native"
    """As the protocol says: `tools`, answered with `tool_calls`."""
    SCHEMA = "schema"
    """The answer has to be an object of a schema: one of the tools with its arguments, or words."""
    TEXT = "text"
    """Told in words; calls are read out of the text."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What one endpoint supports for one model; the defaults are what the protocol promises."""

    tools: bool = True
    """Whether tools that are offered are called."""
    strict: bool = True
    """Whether a tool may be declared `strict`."""
    must_call: bool = True
    """Whether `tool_choice` is obeyed."""
    parallel: bool = True
    """Whether one answer may call several tools."""
    json_schema: bool = True
    """Whether an answer is held to a schema (`response_format`)."""
    streams: bool = True
    """Whether answers come in parts when asked to."""
    stream_usage: bool = True
    """Whether a stream tells what it took."""
    developer: bool = False
    """Whether instructions may come under the role `developer`; `system` is taken everywhere."""
    max_completion_tokens: bool = True
    """Whether the limit of an answer is called so; else `max_tokens`, as it was before."""
    temperature: bool = True
    """Whether a temperature may be asked for; some models that think refuse it."""
    context_tokens: int | None = None
    """Tokens of a request and its answer at most; None where the endpoint does not tell."""

    @property
    def calling(self) -> Calling:
        """How tools are offered here."""
        if self.tools:
            return Calling.NATIVE
        return Calling.SCHEMA if self.json_schema else Calling.TEXT

    def without(self, *names: str) -> Profile:
        """Return the profile of an endpoint that lacks these after all."""
        return replace(self, **dict.fromkeys(names, False))

    def to_json(self) -> dict[str, Json]:
        """Return it as it is kept."""
        return asdict(self)

    @classmethod
    def read(cls, kept: dict[str, Any]) -> Profile:
        """Return a profile that was kept; what is not known any more is passed over."""
        return cls(**{name: value for name, value in kept.items() if name in cls.__dataclass_fields__})
