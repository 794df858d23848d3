"""Takes in what a person changed in the files: a changed entry is a new version, one without a mark a new memory.

What a person changed is told by the version that they saw. Where the memory moved on since, both texts are shown and
nothing of that entry is taken in; all others are. The same files again change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from contracts import MemoryClass, MemoryHolder, MemoryId, MemoryKind, MemoryRecord, MemorySource, MemoryState
from memory.files.entries import Entry, FileFault, mark, read_entries
from memory.files.fields import changed_fields, shown_fields
from memory.files.lock import held
from memory.files.places import ARCHIVE, CLASSES, folder_of_holder, memory_files, read_text, write_private
from memory.files.taken import Became, Imported, Taken
from memory.files.written import WrittenFiles
from memory.records.errors import MemoryPast
from memory.records.port import Memories, MemoryDraft, MemoryFilter
from memory.writing.conflicts import differs
from memory.writing.policy import Feature
from memory.writing.writer import Became as Outcome
from memory.writing.writer import MemoryWriter
from runtime.errors import InvalidArguments, NotFound, PermissionRefused, VersionConflict

_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_OUTCOMES = {Outcome.SUPERSEDES: Became.REPLACES, Outcome.DISPUTED: Became.DISPUTED}
_NEW_IMPORTANCE, _NEW_CONFIDENCE = 0.7, 0.8
_WHOLE = frozenset(each.name for each in fields(MemoryDraft))
_OPEN = frozenset({Became.CONFLICT, Became.FAULT, Became.KNOWN})
"""What leaves words in a file that are in no memory: nobody may write over it."""
REASON = "edited in a file"


@dataclass(slots=True)
class _File:
    """One file while it is taken in."""

    holder: MemoryHolder
    path: Path
    name: str
    """Below the holder's folder."""
    shown: str
    """Below the organisation's folder."""
    content: str
    marks: dict[int, tuple[Entry, MemoryRecord]] = field(default_factory=dict)
    """Last line of an entry → the memory that its mark is to name."""

    @property
    def memory_class(self) -> MemoryClass:
        return CLASSES[self.path.name]

    @property
    def archived(self) -> bool:
        return self.name.startswith(ARCHIVE)


class FileImport:
    """The files of one organisation, taken in by one person."""

    def __init__(
        self, memories: Memories, writer: MemoryWriter, root: Path, *, by: str,
        may_change: Callable[[MemoryHolder], None],
    ) -> None:  # fmt: skip
        """Make it ready; `may_change` raises PermissionRefused for holders whose memories `by` may not change."""
        self._memories = memories
        self._writer = writer
        self._root = root
        self._by = by
        self._may_change = may_change

    async def take_in(self, holders: Sequence[MemoryHolder], *, withdraw_missing: bool = False) -> Imported:
        """Take in the files of these holders; see `Became` for what becomes of each entry.

        Raises:
            FilesBusy: somebody else has the files.
        """
        imported = Imported()
        async with held(self._root):
            for holder in holders:
                await self._holder(holder, imported, withdraw_missing)
        return imported

    async def _holder(self, holder: MemoryHolder, imported: Imported, withdraw_missing: bool) -> None:
        folder = folder_of_holder(self._root, holder)
        if not folder.is_dir():
            return
        await self._memories.find(MemoryFilter(holders=(holder,)), limit=1)  # what `get_all` gives is up to date then
        written, mine = WrittenFiles(folder), Imported()
        seen: set[MemoryId] = set()
        for path in memory_files(folder):
            file = self._file(holder, folder, path, mine)
            if file is None:  # what stands in it is not missing: nobody can tell
                kept = written.get(path.relative_to(folder).as_posix())
                seen.update(kept.entries if kept is not None else ())
                continue
            read = read_entries(file.content)
            mine.extend(self._faults(file, read.faults))
            seen.update(MemoryId(f"{MemoryId.KIND}/{ulid}") for ulid in _ULID.findall(file.content) if _is_id(ulid))
            known = await self._memories.get_all([each.memory_id for each in read.entries if each.memory_id])
            twice, before = _twice(read.entries), len(mine.entries)
            for entry in read.entries:
                if entry.memory_id in twice:
                    mine.add(_taken(Became.FAULT, file, entry, why="This memory stands twice in this file."))
                else:
                    await self._entry(file, entry, known, mine)
            seen.update(record.memory_id for _, record in file.marks.values())
            done = mine.entries[before:]
            settled = not read.faults and not any(each.became in _OPEN for each in done)
            _settle(file, written, settled=settled)
        await self._missing(holder, written, seen, mine, withdraw_missing)
        written.save()
        imported.extend(sorted(mine.entries, key=lambda each: (each.file, each.line)))
        imported.untouched += mine.untouched

    def _file(self, holder: MemoryHolder, folder: Path, path: Path, mine: Imported) -> _File | None:
        shown = path.relative_to(self._root).as_posix()
        if path.is_symlink():
            mine.add(Taken(Became.FAULT, shown, 1, why="This is a link, which is not followed; put the file here."))
            return None
        try:
            content = read_text(path)
        except UnicodeDecodeError:
            mine.add(Taken(Became.FAULT, shown, 1, why="This file is no UTF-8; save it as such."))
            return None
        return None if content is None else _File(holder, path, path.relative_to(folder).as_posix(), shown, content)

    def _faults(self, file: _File, faults: Sequence[FileFault]) -> list[Taken]:
        return [Taken(Became.FAULT, file.shown, fault.line, why=fault.what) for fault in faults]

    async def _entry(
        self, file: _File, entry: Entry, known: Mapping[MemoryId, MemoryRecord], mine: Imported
    ) -> None:  # fmt: skip
        try:
            if entry.memory_id is None:
                await self._new(file, entry, mine)
            else:
                await self._edited(file, entry, known.get(entry.memory_id), mine)
        except (InvalidArguments, MemoryPast, NotFound, PermissionRefused) as error:
            mine.add(_taken(Became.FAULT, file, entry, why=str(error)))

    async def _new(self, file: _File, entry: Entry, mine: Imported) -> None:
        self._may_change(file.holder)
        if file.archived:
            raise InvalidArguments("A new memory belongs into a file outside of the archive.")
        draft = self._draft(file, entry)
        same = await self._said(draft)
        if same is not None:
            exact = same.text == entry.text and not changed_fields(shown_fields(same), entry.fields)
            if exact:  # added by an import that was killed before it wrote the mark
                file.marks[entry.last] = (entry, same)
                mine.untouched += 1
                return
            why = "It is remembered already. Change that memory instead, and take this entry out."
            mine.add(_taken(Became.KNOWN, file, entry, same.memory_id, why=why, stands=same.text))
            return
        made = await self._writer.write(draft, [Feature.REMEMBER], by=self._by)
        if made.record is None:
            raise InvalidArguments(made.why)
        file.marks[entry.last] = (entry, made.record)
        became = _OUTCOMES.get(made.became, Became.ADDED)
        mine.add(_taken(became, file, entry, made.record.memory_id, why="" if became is Became.ADDED else made.why))

    async def _said(self, draft: MemoryDraft) -> MemoryRecord | None:
        """Return what says this already, in the same words or as the same value of the same thing."""
        for record in await self._memories.saying(draft.holder, draft.domain, draft.text):
            return record
        if not (draft.subject and draft.relation and draft.value):
            return None
        about = await self._memories.about(draft.holder, draft.domain, draft.subject, draft.relation)
        return next((each for each in about if each.value and not differs(draft.value, each.value)), None)

    def _draft(self, file: _File, entry: Entry) -> MemoryDraft:
        given = changed_fields({}, entry.fields)
        told: dict[str, Any] = {
            "kind": MemoryKind.SEMANTIC, "importance": _NEW_IMPORTANCE, "confidence": _NEW_CONFIDENCE, **given,
            "text": entry.text, "memory_class": file.memory_class, "holder": file.holder,
            "source": MemorySource(said_by=self._by, file=file.shown),
        }  # fmt: skip
        return MemoryDraft(**{name: value for name, value in told.items() if name in _WHOLE})

    async def _edited(self, file: _File, entry: Entry, now: MemoryRecord | None, mine: Imported) -> None:
        assert entry.memory_id is not None
        if now is None or now.holder != file.holder:  # erased, of another organisation, or none of this folder
            raise NotFound(f"There is no {entry.memory_id} of {file.holder.name}.", id=entry.memory_id)
        if now.version == entry.version and not _changes(now, entry, file):
            mine.untouched += 1
            return
        changed = _changes(await self._as_seen(entry), entry, file)
        if not changed or not changed.keys() & _changes(now, entry, file).keys():
            mine.untouched += 1  # nobody edited it, or what the person wants is so already
            if now.version != entry.version and not _changes(now, entry, file):
                file.marks[entry.last] = (entry, now)
            return
        self._may_change(file.holder)
        if now.version != entry.version:
            mine.add(_conflict(file, entry, now))
            return
        await self._correct(file, entry, changed, now, mine)

    async def _correct(
        self, file: _File, entry: Entry, changed: dict[str, Any], now: MemoryRecord, mine: Imported
    ) -> None:
        try:
            record = await self._memories.correct(
                now.memory_id, changed, by=self._by, version=entry.version, reason=REASON
            )
        except VersionConflict:
            mine.add(_conflict(file, entry, await self._memories.get(now.memory_id)))
            return
        file.marks[entry.last] = (entry, record)
        mine.add(_taken(Became.CHANGED, file, entry, record.memory_id, stands=now.text))

    async def _as_seen(self, entry: Entry) -> MemoryRecord:
        """Return the version that the person saw."""
        assert entry.memory_id is not None
        told = await self._memories.history(entry.memory_id)
        seen = [each.record for each in told if each.record.version == entry.version]
        if not seen:
            raise InvalidArguments(f"This mark was changed: the memory never had the version {entry.version}.")
        return seen[-1]

    async def _missing(
        self, holder: MemoryHolder, written: WrittenFiles, seen: set[MemoryId], mine: Imported, withdraw: bool
    ) -> None:
        """Look after memories that were written into files and are in none any more."""
        gone = {
            memory_id: name
            for name in written.names
            if not name.startswith(ARCHIVE) and (file := written.get(name)) is not None
            for memory_id in file.entries
            if memory_id not in seen
        }
        if not gone:
            return
        there = await self._memories.find(MemoryFilter(holders=(holder,), every_domain=True))
        faulty = bool(mine.of(Became.FAULT))
        for record in [each for each in there if each.memory_id in gone]:
            shown = (folder_of_holder(self._root, holder) / gone[record.memory_id]).relative_to(self._root).as_posix()
            became, why = Became.MISSING, "a file has faults, so nothing is withdrawn" if withdraw and faulty else ""
            if withdraw and not faulty:
                self._may_change(holder)
                await self._memories.withdraw(record.memory_id, by=self._by, reason=f"taken out of {shown}")
                became = Became.WITHDRAWN
            mine.add(Taken(became, shown, 0, record.memory_id, why, stands=record.text))


def _changes(record: MemoryRecord, entry: Entry, file: _File) -> dict[str, Any]:
    """Return what an entry says otherwise than a record."""
    untouched = {word: shown for word, shown in entry.seen.items() if entry.fields.get(word) == shown}
    changed = changed_fields(shown_fields(record) | untouched, entry.fields)
    if record.text != entry.text:
        changed["text"] = entry.text
    if record.memory_class is not file.memory_class:
        changed["memory_class"] = file.memory_class
    return changed


def _settle(file: _File, written: WrittenFiles, *, settled: bool) -> None:
    """Let entries that were taken in name their memory and its version; not one other letter of the file changes.

    A file that was saved anew meanwhile is left: the next import finds that nothing is to be done.
    """
    if read_text(file.path) != file.content:
        return
    lines = file.content.split("\n")
    for last in sorted(file.marks, reverse=True):
        entry, record = file.marks[last]
        ending = "\r" if lines[last - 1].endswith("\r") else ""
        own = mark(record, entry.fields) + ending
        lines[last - 1 : last] = [own] if entry.memory_id else [lines[last - 1], ending, own]
    content = "\n".join(lines)
    if content != file.content:
        write_private(file.path, content)
    known = written.get(file.name)
    entries = [record.memory_id for _, record in file.marks.values() if record.state is MemoryState.ACTIVE]
    written.note(file.name, content if settled else None, dict.fromkeys([*(known.entries if known else []), *entries]))


def _twice(entries: Sequence[Entry]) -> set[MemoryId]:
    ids = [entry.memory_id for entry in entries if entry.memory_id is not None]
    return {each for each in ids if ids.count(each) > 1} if len({*ids}) < len(ids) else set()


def _is_id(ulid: str) -> bool:
    return ulid[0] <= "7"


def _taken(
    became: Became, file: _File, entry: Entry, memory_id: MemoryId | None = None, *, why: str = "", stands: str = ""
) -> Taken:
    return Taken(became, file.shown, entry.line, memory_id or entry.memory_id, why, entry.text, stands)


def _conflict(file: _File, entry: Entry, now: MemoryRecord) -> Taken:
    why = (
        f"It is at version {now.version} by now, by {now.written_by}; the file shows version {entry.version}. To put "
        f"yours in its place, write version {now.version} into the mark."
    )
    return _taken(Became.CONFLICT, file, entry, why=why, stands=now.text)
