"""`search`: where in stored data something stands, as it is written, or by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from contracts import Json
from runtime.context.bounds import counted, excerpt, packed, shortened, spelled
from runtime.context.inspect.places import Lines, is_long, leaves, lines_in, lines_of
from runtime.context.inspect.words import Words
from runtime.context.reading.anchors import Path, general, path_text
from runtime.context.reading.kinds import Kind, open_value

_SHOWN = 200
"""Characters around a hit."""
_KEPT = 200
"""Hits whose text is kept; the others are only counted. No bound holds more."""
_WINDOW = 1_000
"""Characters of a long line in which words are looked for together."""
_OVERLAP = 100
"""Characters that a window shares with the next one, so that no word falls between them."""


_FIELD = "field "


@dataclass(slots=True)
class Hits:
    """Hits in their order: the first ones whole, the others counted."""

    lines: list[str] = field(default_factory=list)
    total: int = 0

    def add(self, address: str, told: str) -> None:
        """Count a hit, and keep it while there are few."""
        self.total += 1
        if len(self.lines) < _KEPT:
            self.lines.append(f"{shortened(address, 300)} {told}")


def search(value: Json, query: str, *, limit: int) -> str:
    """Return where a query stands in a value, in at most `limit` characters.

    First the places where it stands as it is written (capitals do not count), with their paths or lines; then those
    that have its words, most of them first: English by their stems, Chinese by pairs of characters. Words of one item
    of an array belong together, in whichever fields they stand.
    """
    query = query.strip()
    if not query:
        return "The query is empty. Give the words, the number or the id to look for."
    exact, beside, worded = _hits(value, query)
    shown = f"{shortened(query, 80)!r}"
    if not (exact.total or worded or any(map(_is_field, beside))):
        return f"Nothing of {shown} stands in the data. Try other words, or outline(ref) for what there is."
    lines = list(_told(exact, beside, worded, shown))
    total = len(lines) + exact.total - len(exact.lines)
    return packed(lines, limit, total=total)


def _told(exact: Hits, beside: Sequence[str], worded: Sequence[str], shown: str) -> Iterator[str]:
    if exact.total:
        yield f"{shown} stands in {counted(exact.total, 'place')}:"
    else:
        yield f"{shown} stands nowhere as it is written."
    yield from beside
    yield from exact.lines
    if worded and exact.total <= len(exact.lines):
        yield f"With {'all of its' if exact.total else 'its'} words, {counted(len(worded), 'place')}:"
        yield from worded


def _is_field(line: str) -> bool:
    return line.startswith(_FIELD)


def _hits(value: Json, query: str) -> tuple[Hits, Sequence[str], Sequence[str]]:
    opened = open_value(value)
    words = Words(query)
    exact = re.compile(re.escape(query), re.IGNORECASE)
    if opened.kind is Kind.JSON:
        return _in_json(opened.value, exact, words)
    hits, worded, place = Hits(), _Worded(words), lines_in(opened)
    _in_lines(place, exact, hits, worded)
    return hits, place.head(), worded.best(all_words=hits.total > 0)


class _Worded:
    """Places that have some of the words; a place with more of them comes first."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._found: dict[object, tuple[set[str], str, str]] = {}

    def look(self, key: object, address: str, text: str, start: int = 0) -> None:
        """Look for words in a text, or in the window of it that begins at `start`."""
        window = text[start : start + _WINDOW + _OVERLAP]
        terms = self._words.terms_in(window)
        if not terms:
            return
        if key in self._found:
            self._found[key][0].update(terms)
            return
        at = start + self._words.start_in(window)
        self._found[key] = (terms, address, excerpt(text, at, at, _SHOWN))

    def skip(self, key: object) -> None:
        """Leave out a place that is told already."""
        self._found.pop(key, None)

    def best(self, *, all_words: bool) -> Sequence[str]:
        """Return the places with the most words first: half of the words at least, or all of them."""
        least = len(self._words) if all_words else -(-len(self._words) // 2)
        kept = [each for each in self._found.values() if len(each[0]) >= least]
        kept.sort(key=lambda each: -len(each[0]))
        of = len(self._words)
        return [f"{shortened(address, 300)} ({len(terms)} of {of}) {told}" for terms, address, told in kept]


def _in_lines(place: Lines, exact: re.Pattern[str], hits: Hits, worded: _Worded) -> None:
    for number, line in enumerate(place.lines, 1):
        before = hits.total
        for found in exact.finditer(line):
            column = found.start() + 1 if len(line) > _SHOWN else None
            hits.add(place.address(number, column), excerpt(line, found.start(), found.end(), _SHOWN))
            if column is None:
                break  # the whole line is shown
        if hits.total == before:
            for start in range(0, len(line), _WINDOW):
                address = place.address(number, start + 1 if start else None)
                worded.look((place.path, number, start), address, line, start)


def _in_json(value: Json, exact: re.Pattern[str], words: Words) -> tuple[Hits, Sequence[str], Sequence[str]]:
    hits, worded = Hits(), _Worded(words)
    fields: dict[str, int] = {}
    told: set[Path] = set()
    for leaf in leaves(value):
        _count_fields(leaf.path, exact, fields)
        if isinstance(leaf.value, dict | list):
            continue
        text = spelled(leaf.value)
        if isinstance(leaf.value, str) and is_long(text):
            _in_lines(lines_of(leaf.path, text), exact, hits, worded)
            continue
        found = exact.search(text)
        record = _record(leaf.path)
        if found:
            hits.add(path_text(leaf.path), excerpt(text, found.start(), found.end(), _SHOWN))
            told.add(record)
        else:
            worded.look(record, path_text(leaf.path), text)
    for record in told:
        worded.skip(record)
    return (
        hits,
        [f"{_FIELD}{path}: {counted(count, 'value')}" for path, count in fields.items()][:20],
        worded.best(all_words=hits.total > 0),
    )


def _count_fields(path: Path, exact: re.Pattern[str], fields: dict[str, int]) -> None:
    """Count values that stand in a field with the query in its name, all items of an array together."""
    for number, step in enumerate(path, 1):
        if isinstance(step, str) and exact.search(step):
            name = shortened(general(path[:number]), 300)
            fields[name] = fields.get(name, 0) + 1


def _record(path: Path) -> Path:
    """Return what a value is a part of: the innermost item of an array, else the value by itself."""
    for number in range(len(path) - 1, -1, -1):
        if isinstance(path[number], int):
            return path[: number + 1]
    return path
