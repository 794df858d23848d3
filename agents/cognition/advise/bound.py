"""Texts with their numbers filled in, each number kept with its source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.employee.report.words import format_number
from contracts import Json, Sha256, Text
from runtime.bindings import reference_of, resolve
from runtime.capabilities.port import Origin
from runtime.errors import InvalidArguments

_MARK = re.compile(r"\{\{(?P<path>.*?)(?:\|(?P<pattern>\s*[+,.0-9% ]+))?\}\}", re.DOTALL)
"""`{{ path }}`, or `{{ path | 0.1% }}` with a number pattern as in reports."""

_MISSING = "–"
_GROUPED_FROM = 10_000
"""Whole numbers below are years and small counts; from here on thousands are separated."""


@dataclass
class Binder:
    """Fills the texts of one card and remembers the numbers in them."""

    roots: Mapping[str, Json]
    origins: Mapping[str, Origin]
    facts: dict[str, Json] = field(default_factory=dict)
    """Path as written → `{value, source}`."""

    def text(self, text: Text) -> Text:
        """Return the text with its bindings filled and its numbers formatted."""
        if isinstance(text, dict):
            return {language: self._fill(words) for language, words in text.items()}
        return self._fill(text)

    def evidence(self) -> tuple[Sha256, ...]:
        """Return the addresses of everything that the arguments came from, each once."""
        hashes = [origin.result_sha256 for origin in self.origins.values()]
        hashes += [origin.data_sha256 for origin in self.origins.values() if origin.data_sha256]
        return tuple(dict.fromkeys(hash_ for hash_ in hashes if hash_))

    def _fill(self, words: str) -> str:
        return _MARK.sub(self._value, words)

    def _value(self, match: re.Match[str]) -> str:
        path, pattern = match["path"].strip(), (match["pattern"] or "").strip()
        value = resolve(f"{{{{ {path} }}}}", self.roots)
        if _is_number(value):
            self.facts[path] = {"value": value, "source": self._source(path)}
        if not pattern or value is None:
            return readable(value)
        try:
            return format_number(value, pattern)
        except ValueError as error:
            raise InvalidArguments(f"{{{{ {path} | {pattern} }}}}: {error}.", binding=path) from None

    def _source(self, path: str) -> dict[str, Json]:
        """Return where a number came from: the nearest argument on its path whose origin is known."""
        reference = reference_of(path)
        keys = [reference.root, *map(str, reference.path)]
        for length in range(len(keys), 0, -1):
            origin = self.origins.get(".".join(keys[:length]))
            if origin is not None:
                inside = ".".join(part for part in (origin.path, *keys[length:]) if part)
                hashes = {"query_sha256": origin.query_sha256, "data_sha256": origin.data_sha256}
                known: dict[str, Json] = {name: value for name, value in hashes.items() if value}
                return {"step": origin.step, "path": inside, "result_sha256": origin.result_sha256, **known}
        return {"step": "input", "path": path}


def readable(value: Json) -> str:
    """Return a value as people read it; null is a dash, and nothing has more decimals than it needs."""
    match value:
        case None:
            return _MISSING
        case str():
            return value
        case bool():
            return "✓" if value else "✗"
        case int():
            return f"{value:,}" if abs(value) >= _GROUPED_FROM else str(value)
        case float() if abs(value) >= 1:
            return f"{value:,.2f}".rstrip("0").rstrip(".")
        case float():
            return f"{value:.3g}"
        case list():
            return ", ".join(readable(item) for item in value)
    return ", ".join(f"{key}: {readable(item)}" for key, item in value.items())


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
