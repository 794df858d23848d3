"""A prompt before it is sent: messages made of parts, each with where its datum came from and in which form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from runtime.context.parts import Part, require_single

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Said:
    """One message."""

    role: Role
    parts: tuple[Part, ...] = ()
    """What its content is made of, a blank line between two."""
    calls: tuple[Calling, ...] = ()
    """Of an answer of the model: what it called."""
    answers: str = ""
    """Of a result: the id of the call that it is about."""

    def message(self) -> dict[str, Any]:
        """Return it in the form of the protocol."""
        said: dict[str, Any] = {"role": self.role, "content": "\n\n".join(part.text for part in self.parts)}
        if self.calls:
            said["tool_calls"] = [call.told() for call in self.calls]
        if self.answers:
            said["tool_call_id"] = self.answers
        return said

    @property
    def all_parts(self) -> Iterator[Part]:
        """Every part of it, the arguments of its calls included."""
        yield from self.parts
        yield from (call.arguments for call in self.calls)


@dataclass(frozen=True, slots=True)
class Calling:
    """One call in an answer of the model."""

    id: str
    name: str
    arguments: Part
    """Their JSON text."""

    def told(self) -> dict[str, Any]:
        """Return it in the form of the protocol."""
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments.text},
        }


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not in the prompt, or not as it was."""

    origin: str
    why: str
    size: int
    """Characters that it would have taken, or took more."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that is said to a model in one request, apart from its tools."""

    said: tuple[Said, ...]
    left_out: tuple[LeftOut, ...] = ()
    _messages: list[Mapping[str, Any]] = field(init=False, default_factory=list, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a prompt that shows one datum in two forms.

        Raises:
            RepresentationTwice: it does; both places are named.
        """
        require_single(self.parts)

    @property
    def parts(self) -> Iterator[Part]:
        """Every part, in reading order."""
        return (part for said in self.said for part in said.all_parts)

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages in the form of the protocol; the same objects each time."""
        if not self._messages:
            self._messages.extend(said.message() for said in self.said)
        return self._messages
