"""How lower layers speak to people: by the key of a text; the catalogue lives on top."""

from __future__ import annotations

from typing import Protocol

from contracts import Text

LANGUAGES = ("en", "zh")
"""The languages that people are spoken to; the catalogue has a file for each."""


class Say(Protocol):
    """A catalogue of texts in one language."""

    def __call__(self, key: str, /, **facts: object) -> str:
        """Return the text of that key with its facts filled in."""
        ...


def in_language(text: Text, language: str) -> str:
    """Return the words in the language, else in English, else the first there are."""
    if isinstance(text, str):
        return text
    return text.get(language) or text.get("en") or next(iter(text.values()), "")


def every_language(text: Text) -> list[str]:
    """Return a text in each of its languages, for finding it."""
    return [text] if isinstance(text, str) else list(text.values())
