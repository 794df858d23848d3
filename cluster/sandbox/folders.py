"""The folder of a slot: made empty, taken away whole."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path


def fresh_folder(folder: Path, uid: int | None) -> None:
    """Make the folder, empty, for the slot's own user where it has one."""
    remove_folder(folder)
    folder.mkdir(parents=True, mode=0o700)
    if uid is not None:
        os.chown(folder, uid, uid)
        _let_through(folder.parent)


def _let_through(folder: Path) -> None:
    """Let the slot's user pass the folder above its own, without seeing what is in it."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    folder.chmod(mode | stat.S_IXOTH)


def remove_folder(folder: Path) -> None:
    """Remove a folder and everything in it, also what a script made unreadable."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
        return
    for base, folders, _ in os.walk(folder):
        for name in folders:
            path = Path(base, name)
            if not path.is_symlink():
                path.chmod(0o700)
    if folder.exists():
        shutil.rmtree(folder)


def remove_folders_of(parent: Path, prefix: str) -> None:
    """Remove what earlier holders of a slot left behind when their process was killed."""
    for folder in parent.glob(f"{prefix}-*"):
        remove_folder(folder)
