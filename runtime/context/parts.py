"""What a prompt is made of, and the law that a datum stands in it in one form only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from runtime.context.errors import RepresentationTwice

_REF = re.compile(r"[0-9a-f]{64}")
_NAMED = 12
"""Digits of a reference that a message names; the facts of the error have the whole."""


class Form(StrEnum):
    """How a datum stands in a prompt."""

    FULL = "full"
    """The whole of it."""
    SUMMARY = "summary"
    """Its reference, and a bounded summary or digest."""
    POINTER = "pointer"
    """One line: its reference alone. It may stand beside any other form."""


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a prompt."""

    block: str
    """Where in the prompt it stands."""
    text: str
    origin: str
    """Where its datum came from, for people: `step weather, field rows`."""
    ref: str | None = None
    """sha256 of the canonical bytes of its datum; None for words that stand for no datum."""
    form: Form = Form.FULL
    pinned: bool = False
    """It is never shortened or left out."""

    def __post_init__(self) -> None:
        if self.ref is None:
            if self.form is not Form.FULL:
                raise ValueError(f"{self.origin}: what stands for a datum as {self.form} needs its reference")
        elif not _REF.fullmatch(self.ref):
            raise ValueError(f"{self.origin}: a reference is a whole sha256 in hexadecimal, not {self.ref[:80]!r}")


def require_single(parts: Iterable[Part]) -> None:
    """Refuse parts of which two show the same datum, unless both do so by a bounded text.

    Raises:
        RepresentationTwice: a reference stands whole and as a summary, or whole twice; it names both places.
    """
    shown: dict[str, Part] = {}
    for part in parts:
        if part.ref is None or part.form is Form.POINTER:
            continue
        other = shown.setdefault(part.ref, part)
        if other is not part and Form.FULL in (other.form, part.form):
            raise _twice(part.ref, other, part)


def _twice(ref: str, first: Part, second: Part) -> RepresentationTwice:
    return RepresentationTwice(
        f"The prompt shows one datum twice ({ref[:_NAMED]}…): as {first.form} in {first.block}, from {first.origin}, "
        f"and as {second.form} in {second.block}, from {second.origin}. Show it once, and point to it in the other.",
        ref=ref,
        blocks=[first.block, second.block],
        origins=[first.origin, second.origin],
        forms=[first.form.value, second.form.value],
    )
