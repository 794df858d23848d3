"""The index and resident layers, line by line.

- [Newark closes its short runway in snow](newark-runways.md) — snow or ice at Newark
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import dirname, join, normpath, relpath

from memory.knowledge.faults import KnowledgeFault

_ENTRY = re.compile(r"^- \[(?P<title>(?:[^\[\]\\]|\\.)+)\]\((?P<path>[^()\s]+)\)(?P<rest>.*)$")
_WHEN = re.compile(r"^\s*(?:—|–|--|-)\s*(?P<when>\S.*?)\s*$")
_DASH = "—"
_FORM = "An entry is one line: - [title](path.md) — when to open it"
ROOT = "knowledge"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of an index."""

    title: str
    path: str
    """Of what it opens, below the organisation's folder."""
    when: str
    """When to open it; empty where the line does not say."""
    file: str
    line: int
    size: int
    """Characters of the line."""


@dataclass(frozen=True, slots=True)
class Imperative:
    """One line of the resident layer that must hold in every turn."""

    text: str
    file: str
    line: int


def index_lines(file: str, text: str, faults: list[KnowledgeFault]) -> Iterator[Entry]:
    """Yield the entries of an index; what is neither entry, heading nor blank is a fault."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry = _entry(file, number, line, faults)
        if entry is not None:
            yield entry


def resident_lines(file: str, text: str, faults: list[KnowledgeFault]) -> Iterator[Entry | Imperative]:
    """Yield the lines of the resident layer: what must hold in every turn, and where to look; nothing else."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("- ["):
            entry = _entry(file, number, line, faults)
            if entry is not None:
                yield entry
        elif line.startswith("- ") and line[2:].strip():
            yield Imperative(line[2:].strip(), file, number)
        else:
            faults.append(
                KnowledgeFault(
                    file, number, "The resident layer holds what must hold in every turn, and entries; nothing else.",
                    "Write it as one line that begins with `- `, or into a body.",
                )
            )  # fmt: skip


def written(title: str, path: str, when: str, *, file: str) -> str:
    """Return the line of an entry in an index; `path` is below the organisation's folder."""
    line = f"- [{_escaped(title)}]({relpath(path, dirname(file))})"
    return f"{line} {_DASH} {' '.join(when.split())}" if when else line


def _entry(file: str, number: int, line: str, faults: list[KnowledgeFault]) -> Entry | None:
    match = _ENTRY.match(line)
    if match is None:
        faults.append(KnowledgeFault(file, number, "This line is no entry.", _FORM))
        return None
    path = normpath(join(dirname(file), match["path"]))
    if not path.startswith(f"{ROOT}/") or match["path"].startswith("/"):
        faults.append(KnowledgeFault(file, number, f"`{match['path']}` leads out of {ROOT}/.", _FORM))
        return None
    when = _WHEN.match(match["rest"])
    if match["rest"].strip() and when is None:
        faults.append(KnowledgeFault(file, number, f"A dash comes before `{match['rest'].strip()}`.", _FORM))
    title = re.sub(r"\\(.)", r"\1", match["title"]).strip()
    return Entry(title, path, "" if when is None else when["when"], file, number, len(line))


def _escaped(title: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", " ".join(title.split()))
