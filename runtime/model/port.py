"""What a model promises the step engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, runtime_checkable

from contracts import Json, Usage
from runtime.model.course import Course


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asks for; answers name its id."""

    id: str
    name: str
    arguments: Mapping[str, Json]
    fault: str = ""
    """Why the arguments could not be read; such a call is never made, and the model is told."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request: messages in order, and the tools that may be called."""

    role: str
    """Which model of the settings: `reason`, …"""
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    """Declarations in the form of the protocol, under our own names and schemas; the client makes them fit."""
    must_call: Literal["", "any"] | str = ""
    """The tool that has to be called; `any` for one of them, empty where words will do. It is asked for, and whoever
    reads the answer looks whether it was done: endpoints accept it and pass over it."""
    output: Mapping[str, Any] | None = None
    """JSON Schema of the object that words have to be, where it is declared and there are no tools."""
    most_tokens: int | None = None
    """Tokens of the answer at most; None leaves it to the setting `model.most_tokens`."""
    times: int = 1
    """How many times as many it may have: more after an answer that was cut."""
    temperature: float | None = None
    """None leaves it to the endpoint."""
    course: Course = field(default_factory=Course, compare=False, repr=False)
    """What the model tells while it is asked; it is no part of what is said to it."""


class Ending(StrEnum):
    """How an answer ended: told by the endpoint, or seen from what came."""

    DONE = "done"
    """Calls or words, complete."""
    LENGTH = "length"
    """Cut at the limit of tokens: what it holds is not whole, and no call of it is made."""
    FILTERED = "filtered"
    """Held back by a filter of the endpoint."""
    REFUSED = "refused"
    """The model says that it does not want to."""
    REASONING_ONLY = "reasoning_only"
    """It thought, and said nothing."""
    EMPTY = "empty"
    """There is nothing in it."""
    BROKEN_OFF = "broken_off"
    """The stream ended before the answer did."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One answer: calls of tools, words, or neither, which is nothing usable."""

    content: str = ""
    calls: Sequence[ToolCall] = ()
    usage: Usage = field(default_factory=Usage)
    facts: Mapping[str, Json] = field(default_factory=dict)
    """What else the endpoint said (model, reason for the end, …): kept, and used for nothing."""
    ending: Ending = Ending.DONE
    """Anything but `done` carries no call."""


@runtime_checkable
class Bounded(Protocol):
    """A model that can tell beforehand how much an answer takes; where tokens or money are limited, it has to."""

    def most(self, request: ModelRequest) -> Usage:
        """Return the most tokens, in and out, and money that the answer to this request can take."""
        ...


@runtime_checkable
class Priced(Protocol):
    """A model whose price may be unknown; where money is limited, it is not asked then."""

    def price_fault(self, role: str) -> str | None:
        """Return why nobody can tell what an answer costs, or None."""
        ...


@runtime_checkable
class Named(Protocol):
    """A model that can tell which one it is."""

    def name_of(self, role: str) -> str:
        """Return the name of the model of a role."""
        ...


@runtime_checkable
class Windowed(Protocol):
    """A model that can tell how much it takes in."""

    def room(self, role: str) -> int:
        """Return how many tokens a request of a role may have, its answer apart."""
        ...


class Model(Protocol):
    """A model that reasons with tools."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Return the whole answer.

        After a crash the same request may come again; an answer that was given is stored before anything else happens.
        However it ends, `request.course` tells what was taken: at its worst where nobody knows.

        Raises:
            ModelRequired: no model is configured for the role.
            NetworkFault: the endpoint cannot be reached, or asks to wait.
            CapabilityFailed: it refuses, or hangs; see `runtime.model.errors`.
        """
        ...
