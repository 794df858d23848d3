"""`get_stored_data`: stored data whole, or condensed where the whole is too long for a conversation."""

from __future__ import annotations

from contracts import Json
from runtime.canonical import to_text
from runtime.context.bounds import packed, shortened
from runtime.context.digest import length_of


def is_whole(value: Json, *, whole_chars: int) -> bool:
    """Whether `get_stored_data` gives a value as it is; anything longer has to be condensed first."""
    return length_of(value) <= whole_chars


def get_stored_data(value: Json, *, whole_chars: int, condensed: str = "") -> str:
    """Return a value whole up to `whole_chars` characters: a text as it is, anything else as canonical JSON.

    Of what is longer it returns `condensed`, cut to `whole_chars`, and where to read on.

    Args:
        condensed: what stands for a value that is longer.

    Raises:
        ValueError: it is longer, and nothing stands for it.
    """
    if is_whole(value, whole_chars=whole_chars):
        return value if isinstance(value, str) else to_text({"": value})[len('{"":') : -1]
    if not condensed:
        raise ValueError(f"a value of {length_of(value):,} characters has to be condensed first")
    note = (
        f"{length_of(value):,} characters, condensed. For exact values use search(ref, query), context(ref, anchor), "
        "head or tail: numbers and names in a condensed text may be wrong."
    )
    return packed([note, shortened(condensed, whole_chars - len(note) - 1)], whole_chars)
