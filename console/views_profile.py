"""What the faces show of what is known of a person, and of its erasure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts import MemoryId


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is believed."""

    why: str
    """`said`, `asked`, `asked again`, `ignored`, `corrected`."""
    at: str
    conversation: str
    turn: int
    weight: float


@dataclass(frozen=True, slots=True)
class TraitRow:
    """One thing that is known of a person."""

    depth: str
    """`form`, `attention`, `thinking`."""
    trait: str
    value: str
    weight: float
    by_person: bool
    """Whether they set it themselves: it does not fade, and beats what was noticed."""
    because: Sequence[Reason]
    """Newest first."""


@dataclass(frozen=True, slots=True)
class ProfileView:
    """Everything that is known of a person, and how they are answered by it."""

    person: str
    traits: Sequence[TraitRow]
    guidance: str
    """What employees are told."""


@dataclass(frozen=True, slots=True)
class PersonErasedView:
    """What was erased of a person, or would be."""

    person: str
    done: bool
    memories: int
    conversations: int
    turns: int
    profile: int
    files: int
    blobs: int
    vectors: int
    executions: int
    """That they asked for: those stay."""
    cards: int
    """That they decided: those stay."""
    named_in: Sequence[MemoryId]
    """Memories of the business and of employees that name them: those stay, and somebody decides."""
