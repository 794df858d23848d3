"""Whether a knowledge folder can be found in, read, and relied on; each fault with file and line."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date

from memory.knowledge.faults import KnowledgeFault
from memory.knowledge.lines import ROOT, Entry
from memory.knowledge.tree import INDEX, LOG, KnowledgeTree, dangling, domain_of, entries_of, read_tree
from runtime.search import plain, tokens
from runtime.settings import MemorySettings

_FACT_TOKENS = 4
"""Words from which on a sentence says something that should stand in one place only."""
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*|\n+")


def lint(texts: Mapping[str, str], today: date, settings: MemorySettings) -> list[KnowledgeFault]:
    """Return everything that is wrong, in order of file and line; what is only listed is not grave.

    Args:
        texts: path below the organisation's folder → content, of its knowledge.
        today: the date against which `verified` is held.
    """
    tree, faults = read_tree(texts)
    faults += _of_entries(tree, settings)
    faults += dangling(tree, texts)
    faults += _reached(tree, texts)
    faults += _imperatives(tree, settings)
    faults += _twice(tree)
    faults += _of_bodies(tree, today, settings)
    return sorted(set(faults))


def facts_of(text: str, first_line: int) -> Iterator[tuple[str, int]]:
    """Yield each sentence that says something, plainly, and the line on which it stands."""
    line = first_line
    for row in text.split("\n"):
        for sentence in _SENTENCE.split(row):
            words = plain(sentence.lstrip("#-*> ")).split()
            if len(tokens(sentence)) >= _FACT_TOKENS:
                yield " ".join(words).rstrip(".!?。！？"), line
        line += 1


def places_of(tree: KnowledgeTree) -> Mapping[str, list[tuple[str, int]]]:
    """Return each fact → where it stands: files and lines of bodies and of the resident layer."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for imperative in tree.imperatives:
        for fact, _ in facts_of(imperative.text, 1):
            found[fact].append((imperative.file, imperative.line))
    for body in tree.bodies.values():
        for fact, line in facts_of(body.text, body.first_line):
            found[fact].append((body.path, line))
    return found


def _of_entries(tree: KnowledgeTree, settings: MemorySettings) -> Iterator[KnowledgeFault]:
    by_file: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries_of(tree):
        by_file[entry.file].append(entry)
        if not entry.when:
            yield KnowledgeFault(
                entry.file, entry.line, f"`{entry.title}` does not say when to open it.", "Add — and a few words."
            )
        elif len(entry.when) > settings.index_when_chars:
            yield KnowledgeFault(
                entry.file, entry.line,
                f"`{entry.title}` says in {len(entry.when)} characters when to open it; "
                f"{settings.index_when_chars} have to do.", "Say the one situation in which somebody needs it.",
            )  # fmt: skip
    for file, entries in by_file.items():
        average = sum(entry.size for entry in entries) / len(entries)
        if average > settings.index_line_chars:
            longest = max(entries, key=lambda entry: entry.size)
            yield KnowledgeFault(
                file, longest.line,
                f"Entries have {average:.0f} characters on average; {settings.index_line_chars} at most. This is the "
                "longest.", "Shorten titles; what they tell belongs into the body.",
            )  # fmt: skip


def _reached(tree: KnowledgeTree, texts: Mapping[str, str]) -> Iterator[KnowledgeFault]:
    first: dict[str, Entry] = {}
    for entry in entries_of(tree):
        if entry.path in texts and entry.file.endswith((INDEX, LOG)) and domain_of(entry.file) != domain_of(entry.path):
            yield KnowledgeFault(
                entry.file, entry.line, f"`{entry.path}` belongs to another domain.", "Each index tells of its own."
            )
        if entry.path in first and not entry.path.endswith(INDEX):
            other = first[entry.path]
            yield KnowledgeFault(
                entry.file, entry.line, f"`{entry.path}` has an entry already: {other.file}:{other.line}.", "Keep one."
            )
        first.setdefault(entry.path, entry)
    for path in sorted(tree.bodies.keys() - first.keys()):
        index = f"{ROOT}/{domain_of(path)}/{INDEX}".replace("//", "/")
        yield KnowledgeFault(path, 1, "No index leads here.", f"Add an entry to {index} (--fix).")


def _imperatives(tree: KnowledgeTree, settings: MemorySettings) -> Iterator[KnowledgeFault]:
    for each in tree.imperatives:
        if len(each.text) > settings.index_line_chars:
            yield KnowledgeFault(
                each.file, each.line, f"It stands in every prompt and has {len(each.text)} characters; "
                f"{settings.index_line_chars} at most.", "Say what to do; put the rest into a body.",
            )  # fmt: skip


def _twice(tree: KnowledgeTree) -> Iterator[KnowledgeFault]:
    for fact, places in places_of(tree).items():
        for file, line in places[1:]:
            before, at = places[0]
            yield KnowledgeFault(
                file,
                line,
                f"This stands in {before}:{at} already: “{fact[:80]}”.",
                "Keep it in one place; link it here.",
            )


def _of_bodies(tree: KnowledgeTree, today: date, settings: MemorySettings) -> Iterator[KnowledgeFault]:
    for body in tree.bodies.values():
        age = (today - body.verified).days
        if age < 0 or body.updated > today:
            yield KnowledgeFault(body.path, 1, "It was updated or verified in the future.", "Mend the date.")
        elif age > settings.verify_days:
            yield KnowledgeFault(
                body.path,
                1,
                f"Nobody made sure for {age} days that it is so.",
                "Look, and set `verified`.",
                grave=False,
            )
        if not body.text.strip():
            yield KnowledgeFault(body.path, body.first_line, "It says nothing.", "Write what is to be known.")
