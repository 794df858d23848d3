"""Puts files by manifest into a slot's fresh folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from cluster.workspaces.manifest import HARMLESS, Entry, is_path
from runtime.errors import BlobDamaged, NotFound
from runtime.ledger.port import Blobs

_FILES_AT_ONCE = 200
_BYTES_AT_ONCE = 16 * 1_024 * 1_024


async def fill(folder: Path, manifest: Mapping[str, Entry], blobs: Blobs) -> tuple[str, str] | None:
    """Make the empty folder what the manifest says; return the first path that cannot be had, and why, or None.

    Files belong to whom the folder belongs to, the slot's own user. Nothing else may work in the folder meanwhile.
    """
    for path in sorted(manifest):
        entry = manifest[path]
        if entry.left is not None and entry.left not in HARMLESS:
            return path, f"it could not leave the slot it was made in ({entry.left})"
        if entry.left is None and not is_path(path):
            return path, "its name leads out of the folder"
    for some in _batches({path: entry for path, entry in manifest.items() if entry.left is None}):
        addresses = {entry.sha256: path for path, entry in some.items() if entry.sha256 is not None}
        try:
            data = await blobs.get_all(addresses)
        except (NotFound, BlobDamaged) as error:
            return addresses[str(error.facts["sha256"])], error.message
        await asyncio.to_thread(_put_all, folder, some, data)
    return None


def _batches(manifest: Mapping[str, Entry]) -> Iterator[dict[str, Entry]]:
    """Yield the entries in order of their paths, so many at once as fit into memory well."""
    some: dict[str, Entry] = {}
    for path in sorted(manifest):
        size = sum(entry.size for entry in some.values()) + manifest[path].size
        if some and (len(some) == _FILES_AT_ONCE or size > _BYTES_AT_ONCE):
            yield some
            some = {}
        some[path] = manifest[path]
    if some:
        yield some


def _put_all(folder: Path, some: Mapping[str, Entry], data: Mapping[str, bytes]) -> None:
    for path, entry in some.items():
        _put(folder, path, entry, data[entry.sha256] if entry.sha256 is not None else None)


def _put(folder: Path, path: str, entry: Entry, data: bytes | None) -> None:
    owner = folder.stat()
    *above, name = path.split("/") if data is not None else (*path.split("/"), "")
    place = folder
    for part in above:
        place /= part
        if not place.is_dir():
            place.mkdir(mode=0o755)
            _give(place, owner)
    if data is None:
        return
    fd = os.open(place / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        os.fchmod(fd, entry.mode)
    _give(place / name, owner)


def _give(path: Path, owner: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
