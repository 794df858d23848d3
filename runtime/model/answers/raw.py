"""An answer as the endpoint gave it, put together and not judged yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RawCall:
    """One call as it was written."""

    id: str
    """Empty where none was given."""
    name: str
    arguments: str
    """Their text, which may be no JSON; an object that came instead of text is its text here."""


@dataclass(frozen=True, slots=True)
class Raw:
    """One answer: everything that came, in one place."""

    content: str = ""
    reasoning: str = ""
    """What the model thought, from whichever field the endpoint tells it in."""
    refusal: str = ""
    calls: Sequence[RawCall] = ()
    finish_reason: str | None = None
    """Why the endpoint says that it ended; None where it did not say."""
    usage: Mapping[str, Any] | None = None
    """As the endpoint tells it; the last one that came, where it came more than once."""
    model: str = ""
    error: str = ""
    """What the endpoint says went wrong in the middle of an answer that had begun well."""
    faults: Sequence[str] = ()
    """What did not follow the protocol, each kind once."""
    streamed: bool = False
    """Whether it came in parts: without a reason for its end such an answer was broken off."""
