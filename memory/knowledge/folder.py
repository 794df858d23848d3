"""The knowledge of an organisation on disk: read as texts, and written so that a crash leaves nothing half-done.

A body and the entry that leads to it are one write. What is to be written is put into `.pending.json` first; once that
is on disk the write has happened, and whoever writes next finishes it where the process died in between.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from memory.files.places import read_text
from memory.knowledge.errors import KnowledgeBusy, KnowledgeUnreadable, KnowledgeUnwritable
from memory.knowledge.lines import ROOT
from memory.knowledge.tree import PENDING, is_knowledge
from runtime.errors import InvalidArguments

_LOCK = f"{ROOT}/.lock"


class KnowledgeFolder:
    """The folder of one organisation."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def texts(self) -> Mapping[str, str]:
        """Return path below the folder → content; raise KnowledgeUnreadable for a file that is no text."""
        self._require_folder()
        found = {}
        for file in sorted((self._folder / ROOT).rglob("*.md")):
            path = file.relative_to(self._folder).as_posix()
            if is_knowledge(path) and not any(part.startswith(".") for part in file.parts):
                found[path] = self._read(path)
        return found

    @property
    def interrupted(self) -> bool:
        """Whether a write was begun and is not finished."""
        return (self._folder / PENDING).is_file()

    def finish(self) -> bool:
        """Finish a write that was interrupted; return whether there was one."""
        with self._held():
            return self._finish()

    def write(self, changes: Mapping[str, str | None], *, expected: Mapping[str, str | None]) -> None:
        """Write files, or take them away where there is no content, all or none.

        Args:
            changes: path below the folder → content.
            expected: what was read of files on which the changes rest; another content means that nothing is written.

        Raises:
            KnowledgeBusy: somebody else writes, or changed one of those files meanwhile; nothing was changed.
            KnowledgeUnwritable: the disk is full, or the folder is not ours to write in.
            InvalidArguments: a path leads out of the folder.
        """
        for path in changes:
            self._inside(path)
        with self._held():
            self._finish()
            for path, content in expected.items():
                if read_text(self._folder / path) != content:
                    raise KnowledgeBusy(f"{path} was changed meanwhile. Nothing was written; try again.", file=path)
            self._put(PENDING, json.dumps({"changes": dict(changes)}, ensure_ascii=False))
            self._finish()

    def _finish(self) -> bool:
        told = read_text(self._folder / PENDING)
        if told is None:
            return False
        for path, content in _changes_in(told).items():
            self._inside(path)
            if content is None:
                (self._folder / path).unlink(missing_ok=True)
            else:
                self._put(path, content)
        (self._folder / PENDING).unlink()
        _sync(self._folder / ROOT)
        return True

    def _put(self, path: str, content: str) -> None:
        """Write a file whole or not at all; what it is shared with keeps its rights."""
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f".{file.name}.part")
        with part.open("w", encoding="utf-8", newline="") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        part.replace(file)
        _sync(file.parent)

    def _require_folder(self) -> None:
        """Raise KnowledgeUnreadable where the name of the folder stands for something else."""
        root = self._folder / ROOT
        if not root.resolve().is_relative_to(self._folder):
            raise KnowledgeUnreadable(f"{ROOT} leads out of the organisation's folder.", file=ROOT)
        if root.exists() and not root.is_dir():
            raise KnowledgeUnreadable(f"{ROOT} is no folder.", file=ROOT)

    def _inside(self, path: str) -> None:
        file = (self._folder / path).resolve()
        if not file.is_relative_to(self._folder / ROOT) or ".." in Path(path).parts:
            raise InvalidArguments(f"{path} leads out of {ROOT}/.", file=path)

    def _read(self, path: str) -> str:
        file = (self._folder / path).resolve()
        if not file.is_relative_to(self._folder):
            raise KnowledgeUnreadable(f"{path} leads out of the organisation's folder.", file=path)
        try:
            return file.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise KnowledgeUnreadable(f"{path} is not UTF-8 text.", file=path) from None
        except OSError as error:
            raise KnowledgeUnreadable(f"{path} cannot be read: {error.strerror}.", file=path) from None

    @contextmanager
    def _held(self) -> Iterator[None]:
        self._require_folder()
        try:
            (self._folder / ROOT).mkdir(exist_ok=True)
            file = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the lock of a process that dies is free
                yield
            finally:
                os.close(file)
        except BlockingIOError:
            raise KnowledgeBusy(f"Somebody else writes in {ROOT}/ right now; try again.") from None
        except OSError as error:
            named = Path(error.filename or "")
            file_ = named.relative_to(self._folder).as_posix() if named.is_relative_to(self._folder) else ROOT
            raise KnowledgeUnwritable(f"{file_} cannot be written: {error.strerror}.", file=file_) from None


def _changes_in(told: str) -> Mapping[str, str | None]:
    try:
        changes = json.loads(told)["changes"]
        return {str(path): None if content is None else str(content) for path, content in changes.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise KnowledgeUnreadable(
            f"{PENDING} should hold a write that was interrupted, and cannot be read. Look at it, and take it away.",
            file=PENDING,
        ) from None


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
