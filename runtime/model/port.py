"""What a model promises the step engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from contracts import Json, Usage


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asks for; answers name its id."""

    id: str
    name: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request: messages in order, and the tools that may be called."""

    role: str
    """Which model of the settings: `reason`, …"""
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One answer: calls of tools, words, or neither, which is nothing usable."""

    content: str = ""
    calls: Sequence[ToolCall] = ()
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """A model that reasons with tools."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Return the whole answer.

        Raises:
            ModelRequired: no model is configured for the role.
            NetworkFault: the endpoint cannot be reached, or asks to wait.
        """
        ...
