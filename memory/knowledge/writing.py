"""Writes knowledge down: a body with its entry, or a line of the resident layer; and mends what is safe to mend."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from memory.knowledge.body import Body, written_body
from memory.knowledge.folder import KnowledgeFolder
from memory.knowledge.lines import ROOT, written
from memory.knowledge.placement import Answers, Layer, Placement, place
from memory.knowledge.tree import DOMAIN, INDEX, LOG, RESIDENT, domain_of, read_tree
from runtime.canonical import clean_text, sha256
from runtime.errors import InvalidArguments
from runtime.settings import MemorySettings

_LONGEST_TITLE = 80


@dataclass(frozen=True, slots=True)
class Note:
    """Something to be written down."""

    text: str
    title: str = ""
    domain: str = ""
    project: str = ""
    confidence: float = 0.8


@dataclass(frozen=True, slots=True)
class NoteWritten:
    """Where it stands now."""

    placement: Placement
    path: str
    index: str = ""
    """The file with its entry."""


def write_note(
    folder: KnowledgeFolder, note: Note, answers: Answers, *, today: date, settings: MemorySettings
) -> NoteWritten:
    """Write something down where it belongs, with the entry that leads there, or nothing.

    Raises:
        NotAMemory: it belongs somewhere else, or stands there already.
        InvalidArguments: it has no title.
        KnowledgeBusy: somebody else writes.
    """
    folder.finish()
    texts = folder.texts()
    text, title = clean_text(note.text).strip(), " ".join(clean_text(note.title).split())
    placement = place(text, answers, read_tree(texts)[0], settings)
    if placement.layer is Layer.RESIDENT:
        file = f"{ROOT}/{RESIDENT}"
        folder.write({file: _with_line(texts.get(file), f"- {text}", "Resident")}, expected={file: texts.get(file)})
        return NoteWritten(placement, file)
    if not title or len(title) > _LONGEST_TITLE:
        raise InvalidArguments(f"A title has 1 to {_LONGEST_TITLE} characters (--title).", title=title)
    if note.domain and not DOMAIN.fullmatch(note.domain):
        raise InvalidArguments(
            f"{note.domain!r} is no name of a domain: small letters, digits and hyphens.", domain=note.domain
        )
    below = f"{ROOT}/{note.domain}/" if note.domain else f"{ROOT}/"
    index = below + (LOG if placement.layer is Layer.LOG else INDEX)
    name = f"{today.isoformat()}-{slug(title)}" if placement.layer is Layer.LOG else slug(title)
    path = _free(f"{below}log/{name}" if note.domain and placement.layer is Layer.LOG else f"{below}{name}", texts)
    body = Body(path, text, 0, today, today, note.confidence, note.project, title=title)
    line = written(title, path, answers.when, file=index)
    heading = note.domain or "What is known"
    entries = _with_line(texts.get(index), line, heading, first=placement.layer is Layer.LOG)
    folder.write({path: written_body(body), index: entries}, expected={path: None, index: texts.get(index)})
    return NoteWritten(placement, path, index)


def mend(folder: KnowledgeFolder, settings: MemorySettings) -> int:
    """Mend what can be mended without losing a word; return how many things were.

    A write that was interrupted is finished; an entry whose file moved leads there again; a body that says when to open
    it gets its entry; an entry that leads nowhere, and has moved nowhere, is left alone: somebody wrote it.
    """
    mended = int(folder.finish())
    texts = folder.texts()
    tree, _ = read_tree(texts)
    changed: dict[str, str] = {}
    entries = [
        *tree.addresses,
        *(each for section in tree.sections.values() for each in (*section.entries, *section.log)),
    ]
    reached = {entry.path for entry in entries}
    lost = tree.bodies.keys() - reached
    for entry in entries:
        moved = [path for path in lost if path.rsplit("/", 1)[-1] == entry.path.rsplit("/", 1)[-1]]
        if entry.path in texts or len(moved) != 1 or domain_of(moved[0]) != domain_of(entry.path):
            continue
        now = changed.get(entry.file, texts[entry.file]).splitlines()
        now[entry.line - 1] = written(entry.title, moved[0], entry.when, file=entry.file)
        changed[entry.file] = "\n".join(now) + "\n"
        reached.add(moved[0])
        mended += 1
    for path in sorted(tree.bodies.keys() - reached):
        body = tree.bodies[path]
        if not (body.title and body.when) or len(body.when) > settings.index_when_chars:
            continue
        index = f"{ROOT}/{domain_of(path)}/{LOG if '/log/' in path else INDEX}".replace("//", "/")
        line = written(body.title, path, body.when, file=index)
        changed[index] = _with_line(changed.get(index, texts.get(index)), line, domain_of(path) or "What is known")
        mended += 1
    if changed:
        folder.write(changed, expected={path: texts.get(path) for path in changed})
    return mended


def slug(title: str) -> str:
    """Return a title as the name of a file, without its end; Chinese words stay as they are."""
    plain = unicodedata.normalize("NFKC", title).lower()
    name = re.sub(r"[^\w]+", "-", plain).strip("-_")[:60].rstrip("-")
    return name or sha256(title.encode())[:12]


def _free(path: str, texts: Mapping[str, str]) -> str:
    numbers = iter(range(2, 10_000))
    found = f"{path}.md"
    while found in texts:
        found = f"{path}-{next(numbers)}.md"
    return found


def _with_line(text: str | None, line: str, heading: str, *, first: bool = False) -> str:
    """Return a file with one more line: behind the last, or before the first one of a list."""
    if text is None or not text.strip():
        return f"# {heading}\n\n{line}\n"
    lines = text.rstrip("\n").split("\n")
    if not first:
        return "\n".join([*lines, line]) + "\n"
    at = next((n for n, each in enumerate(lines) if each.startswith("- ")), len(lines))
    return "\n".join([*lines[:at], line, *lines[at:]]) + "\n"
