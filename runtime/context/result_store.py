"""Which results are stored instead of shown, and what stands for them in a conversation."""

from __future__ import annotations

from contracts import Json
from runtime.context.digest import digest
from runtime.settings.context import ContextSettings

STORED, REF_ID, TOOL_TYPE = "__stored", "__refId", "__toolType"
ORIGINAL_LENGTH, SUMMARY, HINT = "__originalLength", "__summary", "__hint"
HOW = (
    "Only a digest is shown. Look into it with outline or search, then context, head or tail; get_stored_data last, "
    'it costs the most. To pass the whole on, write {"__ref": its __refId} as the argument.'
)
"""How a model gets at stored data, the cheapest way first and the whole last."""


def is_stored(value: Json, length: int, settings: ContextSettings, *, always: bool = False) -> bool:
    """Whether a result is stored: it is long, holds a long array, or its step says so.

    Args:
        length: characters of its canonical text.
        always: its step is marked `always_store`.
    """
    return always or length > settings.store_chars or _holds_many(value, settings.store_items)


def marker(value: Json, settings: ContextSettings, *, ref: str, tool: str | None, length: int) -> dict[str, Json]:
    """Return what stands in a conversation for a stored value.

    Args:
        ref: sha256 of its canonical bytes.
        tool: what gave it; None for the inputs of a step.
        length: characters of its canonical text.
    """
    return {
        STORED: True,
        REF_ID: ref,
        TOOL_TYPE: tool,
        ORIGINAL_LENGTH: length,
        SUMMARY: digest(value, limit=settings.digest_chars, length=length),
        HINT: HOW,
    }


def preview(original: str, settings: ContextSettings) -> str:
    """Return the plain beginning of a stored text, for audit and replay. It never enters a prompt."""
    return original[: settings.preview_chars]


def _holds_many(value: Json, most: int) -> bool:
    inside = value.values() if isinstance(value, dict) else (value,)
    return any(isinstance(each, list) and len(each) > most for each in inside)
