"""Where an organisation's files are read from: its folder, or the archive pinned in an execution."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol

from agents.organisation.fault import Fault
from runtime.errors import SiliconError

LARGEST = 1024 * 1024
"""Bytes of one file; a larger one is data, and data belongs behind a connection."""

NOT_BUNDLED = frozenset({"data", "__pycache__", "node_modules"})
"""Folders that hold data or things made from the rest."""


class FileRefused(SiliconError):
    """A file is missing, too large, outside the folder or no text; the message says which."""

    code = "FILE_REFUSED"


class Files(Protocol):
    """The files of one organisation."""

    def names(self) -> Sequence[str]:
        """Return the paths of all files, sorted, with `/` between their parts."""
        ...

    def read(self, name: str) -> bytes:
        """Return the content of one file; raise FileRefused."""
        ...

    def look_at(self, name: str) -> None:
        """Return when the file may be read; raise FileRefused if not."""
        ...


class FolderFiles:
    """Files of a folder. Links that lead out of it are refused."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._names = tuple(sorted(self._walk(self._folder)))

    def names(self) -> Sequence[str]:
        """Return the paths of all files, without hidden ones and data."""
        return self._names

    def read(self, name: str) -> bytes:
        """Return the content of one file; raise FileRefused."""
        try:
            return self._real(name).read_bytes()
        except OSError as error:
            raise FileRefused(f"{name} cannot be read: {error.strerror or error}.") from error

    def look_at(self, name: str) -> None:
        """Return when the file may be read; raise FileRefused if not."""
        self._real(name)

    def _real(self, name: str) -> Path:
        try:
            real = (self._folder / name).resolve(strict=True)
            if not real.is_relative_to(self._folder):
                raise FileRefused(f"{name} leads out of the organisation's folder.")
            if not real.is_file():
                raise FileRefused(f"{name} is no file; links to folders are not followed.")
            if real.stat().st_size > LARGEST:
                raise FileRefused(f"{name} is larger than 1 MiB; data belongs behind a connection.")
        except (OSError, RuntimeError) as error:
            raise FileRefused(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
        return real

    def _walk(self, top: Path) -> Iterator[str]:
        for place, folders, files in os.walk(top):
            folders[:] = sorted(name for name in folders if _belongs(name))
            inside = Path(place).relative_to(top)
            for name in files:
                if _belongs(name):
                    yield (inside / name).as_posix()
            for name in folders:
                if (Path(place) / name).is_symlink():
                    yield (inside / name).as_posix()


class ArchiveFiles:
    """Files of an archive made by `bundle`."""

    def __init__(self, data: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            too_large = [entry.filename for entry in archive.infolist() if entry.file_size > LARGEST]
            if too_large:
                raise FileRefused(f"{too_large[0]} is larger than 1 MiB.")
            self._files = {entry.filename: archive.read(entry) for entry in archive.infolist()}

    def names(self) -> Sequence[str]:
        """Return the paths of all files."""
        return tuple(sorted(self._files))

    def read(self, name: str) -> bytes:
        """Return the content of one file; raise FileRefused."""
        try:
            return self._files[str(PurePosixPath(name))]
        except KeyError:
            raise FileRefused(f"{name} is not there.") from None

    def look_at(self, name: str) -> None:
        """Return when the file may be read; raise FileRefused if not."""
        if name not in self._files:
            raise FileRefused(f"{name} is not there.")


def fault_of(name: str, refused: FileRefused) -> Fault:
    """Return the fault of a file that was refused."""
    line = refused.facts.get("line")
    return Fault(name, line if isinstance(line, int) else 0, refused.message)


def text_of_file(files: Files, name: str) -> str:
    """Return a file as text; raise FileRefused."""
    data = files.read(name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileRefused(f"{name} is not UTF-8 text.", line=line) from error


def _belongs(name: str) -> bool:
    return not name.startswith(".") and name not in NOT_BUNDLED and not name.endswith((".pyc", ".pyo"))
