"""A file of memories: entries one below the other, each with its words, its fields and, unobtrusively, its id.

    I prefer tables to prose.

    - names: Newark
    - importance: 0.7

    <!-- memory 01J9… version 3 seen 0.7 0.5 -->

    ---

An entry ends with its mark or a line `---`. One without a mark is new. Whatever cannot be read is told with its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from contracts import MemoryId, MemoryRecord
from contracts.ids import ULID_PATTERN
from memory.files.fields import AMOUNTS, FIELDS, Shown, field_lines, shown_fields
from memory.files.lines import field_value, plain_lines, quoted, text_of

_MARK = re.compile(r"<!-- memory ([0-9A-Z]{26}) version ([1-9][0-9]{0,8}) seen ([0-9.e-]+) ([0-9.e-]+) -->")
_LIKE_A_MARK = re.compile(r"<!--\s*memory\b", re.IGNORECASE)
_OURS = "<!-- silicon memory:"
_RULE = re.compile(r"-{3,}")
_FIELD = re.compile(r"- ([a-z]+):(.*)")
_TEXT = "text"
"""The field that holds the words where lines would not bring them back exactly."""
_INTRO = (
    "entries end with their mark or with a line of three hyphens; one without a mark is new. Change words and fields, "
    "leave marks as they are, then `silicon memory import` takes in what you changed."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory as a file says it."""

    text: str
    fields: Mapping[str, Shown]
    line: int
    """Where it begins, from 1."""
    last: int
    """Its last line: its mark, where it has one."""
    memory_id: MemoryId | None = None
    """None: it is new."""
    version: int = 0
    """The version that the person saw."""
    seen: Mapping[str, Shown] = field(default_factory=dict)
    """What else they saw that changes without a new version: importance and confidence."""


@dataclass(frozen=True, slots=True)
class FileFault:
    """Something in a file that cannot be taken in, so that nothing of its entry is."""

    line: int
    what: str


@dataclass(slots=True)
class Read:
    """What a file says."""

    entries: list[Entry] = field(default_factory=list)
    faults: list[FileFault] = field(default_factory=list)


def mark(record: MemoryRecord, edited: Mapping[str, Shown] | None = None) -> str:
    """Return the line by which an entry is known; `edited` are the fields that stand above it."""
    fields = {**shown_fields(record), **(edited or {})}
    amounts = " ".join(str(fields[word]) for word in AMOUNTS)
    return f"<!-- memory {record.memory_id.ulid} version {record.version} seen {amounts} -->"


def write_entries(title: str, records: Sequence[MemoryRecord]) -> str:
    """Return a file; `read_entries` reads from it exactly these."""
    entries = [entry_lines(record) for record in records]
    return f"# {title}\n\n{_OURS} {_INTRO} -->\n\n" + "\n\n---\n\n".join(entries) + "\n"


def entry_lines(record: MemoryRecord) -> str:
    """Return one memory as an entry."""
    plain = plain_lines(record.text)
    words = [plain, ""] if plain is not None else []
    exact = [] if plain is not None else [f"- {_TEXT}: {quoted(record.text)}"]
    return "\n".join([*words, *exact, *field_lines(shown_fields(record)), "", mark(record)])


def read_entries(content: str) -> Read:
    """Return what a file says, with everything in it that cannot be read."""
    read, block = Read(), list[tuple[int, str]]()
    lines = content.removeprefix("\ufeff").split("\n")
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if line.startswith(_OURS) or (number == 1 and line.startswith("# ")):
            continue
        if _RULE.fullmatch(line):
            _finish(read, block)
            continue
        block.append((number, raw))
        if _MARK.fullmatch(line):
            _finish(read, block)
    _finish(read, block)
    return read


def _finish(read: Read, lines: list[tuple[int, str]]) -> None:
    """Read the lines of one entry, and begin the next."""
    if any(line.strip() for _, line in lines):
        block = _Block()
        marked = _MARK.fullmatch(lines[-1][1].strip())
        for number, line in lines[:-1] if marked else lines:
            block.take(number, line)
        entry = block.entry(lines, marked)
        read.faults.extend(block.faults)
        if not block.faults:
            read.entries.append(entry)
    lines.clear()


class _Block:
    """The lines between two marks, as they are read."""

    def __init__(self) -> None:
        self.faults: list[FileFault] = []
        self._words: list[str] = []
        self._fields: dict[str, Shown] = {}
        self._exact: str | None = None

    def take(self, number: int, line: str) -> None:
        """Read a line: a field, words, or what is neither."""
        if found := _FIELD.fullmatch(line.rstrip()):
            try:
                self._field(number, found[1], found[2])
            except ValueError as error:
                self._fault(number, f"The field {found[1]} cannot be read: {error}.")
        elif _LIKE_A_MARK.match(line.strip()):
            self._fault(number, "This mark was changed: it tells which memory it is, and its version.")
        elif line.strip() and self._fields:
            self._fault(number, "Words stand below the fields of an entry; a line `---` begins another one.")
        else:
            self._words.append(line)

    def entry(self, lines: Sequence[tuple[int, str]], marked: re.Match[str] | None) -> Entry:
        """Return what was read; worth nothing where there are faults."""
        filled = [number for number, line in lines if line.strip()]
        text = text_of(self._words)
        if self._exact is not None and text:
            self._fault(filled[0], "This entry has words as lines and as a field `text`; it can have one.")
        text = text if self._exact is None else self._exact
        if not text and not self.faults:
            self._fault(filled[0], "This entry has no words. To forget a memory, take its mark away as well.")
        memory_id = _known(marked[1]) if marked else None
        if marked and memory_id is None:
            self._fault(filled[-1], "This mark was changed: there is no such id.")
        version = int(marked[2]) if marked else 0
        seen = {word: marked[at] for at, word in enumerate(AMOUNTS, 3)} if marked else {}
        return Entry(text, self._fields, filled[0], filled[-1], memory_id, version, seen)

    def _field(self, number: int, word: str, value: str) -> None:
        if word == _TEXT:
            self._exact = field_value(value)
        elif (fault := _misnamed(word, self._fields)) is not None:
            self._fault(number, fault)
        elif value.strip():
            self._fields[word] = FIELDS[word].read(value)

    def _fault(self, line: int, what: str) -> None:
        self.faults.append(FileFault(line, what))


def _misnamed(word: str, fields: Mapping[str, Shown]) -> str | None:
    if word in fields:
        return f"The field {word} stands twice in this entry."
    if word in FIELDS:
        return None
    near = get_close_matches(word, FIELDS, 1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return f"{word} is no field of a memory. {meant}For a line of text, put a backslash before it: `\\- {word}:`."


def _known(ulid: str) -> MemoryId | None:
    return MemoryId(f"{MemoryId.KIND}/{ulid}") if re.fullmatch(ULID_PATTERN, ulid) else None
