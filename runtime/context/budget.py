"""Whether a prompt fits before anybody pays for it, and what gives way, in order, where it does not."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

from runtime.canonical import clean, to_text
from runtime.context.errors import PromptBudgetExceeded
from runtime.context.prompt import Prompt
from runtime.context.tokens import Count, Estimator
from runtime.model.port import ModelRequest

_NAMED = 4
"""How many of the largest parts an error names."""


class Squeeze(IntEnum):
    """What gives way in a prompt that is too large; each includes those before it. The pinned goal never does."""

    NOTHING = 0
    SAMPLES = 1
    """Digests keep only what the data is and how large."""
    WHOLE = 2
    """What stands whole is shown by a digest."""
    INDEX = 3
    """Stored results that the step does not depend on directly are not listed."""
    TRANSCRIPT = 4
    """Only the newest messages stay."""
    MEMORY = 5
    """Nothing that was noted in earlier steps is shown."""


class Gauge:
    """Tells whether requests fit, and learns from what endpoints say they took."""

    def __init__(self, estimator: Estimator | None = None) -> None:
        self._estimator = estimator or Estimator()
        self._counts: dict[str, Count] = {}

    async def fits(self, request: ModelRequest, *, model: str, room: int) -> bool:
        """Whether a request surely has no more than `room` tokens.

        A token holds a byte at least, so that most requests need not be counted at all.
        """
        text = text_of(request)
        if len(text.encode()) <= room:
            return True
        counted = await asyncio.to_thread(self._estimator.count, text, model)  # its tables take half a second to load
        self._counts[model] = counted
        return counted.most <= room

    def counter(self, model: str) -> Callable[[str], int]:
        """Return what tells how many tokens a text most likely is for a model."""
        return lambda text: self._estimator.count(text, model).tokens

    def took(self, model: str, tokens: int) -> None:
        """Take in what an endpoint told that the request took which was counted last."""
        counted = self._counts.pop(model, None)
        if counted is not None:
            self._estimator.correct(model, told=tokens, estimated=counted)


def text_of(request: ModelRequest) -> str:
    """Return all that an endpoint counts of a request, near enough."""
    messages: list[Any] = [dict(message) for message in request.messages]
    return to_text(clean({"messages": messages, "tools": list(request.tools)}))


def exceeded(prompt: Prompt, request: ModelRequest, *, room: int) -> PromptBudgetExceeded:
    """Return the error of a prompt that does not fit though everything gave way; it names what is left of it."""
    tools = len(to_text(clean(list(request.tools)))) if request.tools else 0
    sizes: Counter[str] = Counter({"tools": tools} if tools else {})
    for part in prompt.parts:
        sizes[part.block] += len(part.text)
    largest = ", ".join(f"{block} {size:,}" for block, size in sizes.most_common(_NAMED))
    told: Mapping[str, Any] = {"room_tokens": room, "characters": dict(sizes)}
    return PromptBudgetExceeded(
        f"The prompt does not fit into {room:,} tokens, and nothing more of it can give way. It holds, in characters: "
        f"{largest}. Take a model with a larger window, or give the step less: shorter words in its task, fewer tools, "
        "inputs by reference (`material`). Nothing was asked.",
        happened="no", **told,
    )  # fmt: skip
