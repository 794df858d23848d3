"""The catalogue of texts: Fluent files, one for each language, with the same keys."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

from fluent.runtime import FluentBundle, FluentResource

from runtime.texts import LANGUAGES, Say

__all__ = ["LANGUAGES", "UnknownText", "say_in", "source"]

_LOCALES = {"en": "en-GB", "zh": "zh-Hans-CN"}


class UnknownText(LookupError):
    """The catalogue has no such text, or a fact that the text needs was not given."""


@cache
def say_in(language: str) -> Say:
    """Return the catalogue in `language`; English for a language it does not have."""
    bundle = _bundle(language if language in LANGUAGES else "en")

    def say(key: str, /, **facts: object) -> str:
        if not bundle.has_message(key):
            raise UnknownText(f"The catalogue has no text {key!r}; add it to console/texts in every language.")
        pattern = bundle.get_message(key).value
        if pattern is None:
            raise UnknownText(f"The text {key!r} has no value of its own.")
        text, errors = bundle.format_pattern(pattern, {name: _plain(value) for name, value in facts.items()})
        if errors:
            raise UnknownText(f"The text {key!r} cannot be filled in: {errors[0]}.")
        return str(text)

    return say


def source(language: str) -> str:
    """Return the Fluent file of a language."""
    return (Path(__file__).parent / f"{language}.ftl").read_text(encoding="utf-8")


def _bundle(language: str) -> FluentBundle:
    bundle = FluentBundle([_LOCALES[language]], use_isolating=False)
    bundle.add_resource(FluentResource(source(language)))
    return bundle


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
