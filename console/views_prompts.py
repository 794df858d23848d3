"""What a model was told, as the faces show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from contracts import OrderId


@dataclass(frozen=True, slots=True)
class PromptPart:
    """One piece of a prompt."""

    block: str
    """Where it stands: `rules`, `goal`, `inputs`, `transcript`, …"""
    origin: str
    """Where its datum came from."""
    form: str
    """`full`, `summary` (a reference and a bounded summary) or `pointer` (a reference alone)."""
    size: int
    """Characters."""
    text: str
    ref: str | None = None
    """sha256 of the datum; None for words that stand for none."""
    pinned: bool = False
    """Whether it is never shortened or left out."""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a prompt."""

    role: str
    parts: tuple[PromptPart, ...]
    calls: tuple[str, ...] = ()
    """Tools that the model called in it; their arguments are the last parts."""


@dataclass(frozen=True, slots=True)
class PromptLeftOut:
    """Something that is not in the prompt, or not as it was."""

    origin: str
    why: str
    size: int
    """Characters that it would have taken, or took more."""


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """One request that a model answered, the whole of it."""

    order_id: OrderId
    step: str
    index: int | None
    answer: int
    """Number of the answer that came to it."""
    at: datetime
    """When it was answered."""
    same: bool
    """Whether it is what was sent, by its hash; settings or the program may have changed since."""
    tokens_in: int
    """What the endpoint said that it took."""
    tools: tuple[str, ...]
    messages: tuple[PromptMessage, ...]
    left_out: tuple[PromptLeftOut, ...] = ()

    @property
    def name(self) -> str:
        """`step`, or `step[2]` for the third repetition."""
        return self.step if self.index is None else f"{self.step}[{self.index}]"
