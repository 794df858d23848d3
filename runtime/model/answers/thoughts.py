"""Thoughts that an endpoint left among the words, between the marks of the model."""

from __future__ import annotations

_BEGIN, _END = "<think>", "</think>"


def apart(content: str) -> tuple[str, str]:
    """Return words and thoughts of a content.

    The mark of the beginning may stand in the prompt already; then the other one stands on a line of its own.
    """
    before, ended, after = content.partition(_END)
    if before.lstrip().startswith(_BEGIN):
        return after.lstrip(), before.lstrip().removeprefix(_BEGIN)
    alone = not before.rpartition("\n")[2].strip() and not after.partition("\n")[0].strip()
    if ended and alone and _BEGIN not in content:
        return after.lstrip(), before
    return content, ""
