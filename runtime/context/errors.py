"""What can go wrong while a prompt is put together or data is looked into.

SiliconError
├── ContextError
│   ├── RepresentationTwice    one datum stands in a prompt in two forms     (a fault of the program: show it once)
│   ├── ContextIncompressible  what may not be compressed fills the window   (ask for less, or a larger window)
│   └── PromptBudgetExceeded   what may not give way does not fit            (a larger window, or less to say)
└── InvalidArguments
    └── AnchorUnknown        a model names a place that the data does not have  (name one that outline or search gave)
"""

from __future__ import annotations

from collections.abc import Mapping

from runtime.errors import InvalidArguments, SiliconError


class ContextError(SiliconError):
    """No prompt can be made of what there is."""

    code = "CONTEXT_ERROR"


class RepresentationTwice(ContextError):
    """One datum stands in a prompt in two forms, or whole twice."""

    code = "REPRESENTATION_TWICE"


class ContextIncompressible(ContextError):
    """The window is full, and what fills it may not be compressed or gets no smaller; the facts name the floor."""

    code = "CONTEXT_INCOMPRESSIBLE"

    def __init__(self, tokens: int, window: int, floor: int, blocks: Mapping[str, int], why: str) -> None:
        largest = sorted(blocks.items(), key=lambda each: (-each[1], each[0]))
        named = ", ".join(f"{block} {taken:,}" for block, taken in largest)
        super().__init__(
            f"The prompt takes {tokens:,} of the {window:,} tokens that the model holds; no compaction helps ({why}). "
            f"What cannot be made smaller takes {floor:,}: {named}. Give the step fewer tools, shorter rules or inputs "
            f"by reference, or a model with a larger window (model.context_tokens).",
            tokens=tokens, window=window, floor=floor, blocks=dict(blocks), why=why,
        )  # fmt: skip


class PromptBudgetExceeded(ContextError):
    """What of a prompt may not give way does not fit into the model's window; nothing was asked."""

    code = "PROMPT_BUDGET_EXCEEDED"


class AnchorUnknown(InvalidArguments):
    """The data has no such place."""

    code = "ANCHOR_UNKNOWN"
