"""Folders as people name them."""

from __future__ import annotations

from pathlib import Path


def folder_of(named: Path) -> Path:
    """Return the folder that a person named, absolute, so that it means the same from everywhere."""
    return named.expanduser().resolve()
