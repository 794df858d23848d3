"""The catalogue of texts: Fluent files, one for each language, with the same keys.

A text is parsed when it is first said, and none refers to another: parsing all of them takes 60 ms, and importing
Fluent 30 ms more, in which a command of which a program reads the answer says nothing.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.texts import LANGUAGES, Say

if TYPE_CHECKING:
    from fluent.runtime import FluentBundle

__all__ = ["LANGUAGES", "UnknownText", "say_in", "source"]

_LOCALES = {"en": "en-GB", "zh": "zh-Hans-CN"}


class UnknownText(LookupError):
    """The catalogue has no such text, or a fact that the text needs was not given."""


_ENTRY = re.compile(r"^(?P<key>[a-zA-Z][\w-]*) *=", re.MULTILINE)
"""Where a text begins: Fluent wants its further lines indented, and everything between texts is a comment."""


@cache
def say_in(language: str) -> Say:
    """Return the catalogue in `language`; English for a language it does not have."""
    return _Catalogue(language if language in LANGUAGES else "en").say


class _Catalogue:
    """The texts of one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._bundle: FluentBundle | None = None
        self._entries: dict[str, str] = {}

    def say(self, key: str, /, **facts: object) -> str:
        """Return the text, filled in."""
        bundle = self._bundle or self._open()
        if not bundle.has_message(key):
            self._parse(bundle, key)
        pattern = bundle.get_message(key).value
        if pattern is None:
            raise UnknownText(f"The text {key!r} has no value of its own.")
        text, errors = bundle.format_pattern(pattern, {name: _plain(value) for name, value in facts.items()})
        if errors:
            raise UnknownText(f"The text {key!r} cannot be filled in: {errors[0]}.")
        return str(text)

    def _open(self) -> FluentBundle:
        from fluent.runtime import FluentBundle

        self._entries = entries(source(self._language))
        self._bundle = FluentBundle([_LOCALES[self._language]], use_isolating=False)
        return self._bundle

    def _parse(self, bundle: FluentBundle, key: str) -> None:
        from fluent.runtime import FluentResource

        if key not in self._entries:
            raise UnknownText(f"The catalogue has no text {key!r}; add it to console/texts in every language.")
        bundle.add_resource(FluentResource(self._entries[key]))


def entries(text: str) -> dict[str, str]:
    """Return each key of a Fluent file with what stands from there to the next one."""
    found = list(_ENTRY.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return {match["key"]: text[match.start() : end] for match, end in zip(found, ends, strict=True)}


def source(language: str) -> str:
    """Return the Fluent file of a language."""
    return (Path(__file__).parent / f"{language}.ftl").read_text(encoding="utf-8")


def _plain(value: object) -> Any:
    """Numbers stay numbers, so that plurals work; everything else is its own text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, date):
        return value.isoformat()
    return str(value)
