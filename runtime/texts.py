"""How lower layers speak to people: by the key of a text; the catalogue lives on top."""

from __future__ import annotations

from typing import Protocol

LANGUAGES = ("en", "zh")
"""The languages that people are spoken to; the catalogue has a file for each."""


class Say(Protocol):
    """A catalogue of texts in one language."""

    def __call__(self, key: str, /, **facts: object) -> str:
        """Return the text of that key with its facts filled in."""
        ...
