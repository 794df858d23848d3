"""Files that came with an answer: their names, and how they are told."""

from __future__ import annotations

import re

from contracts import Json
from runtime.canonical import sha256
from runtime.capabilities.port import NewFile

_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 100


def describe(file: NewFile) -> dict[str, Json]:
    """Return what a file is, without what is in it."""
    return {"name": file.name, "media_type": file.media_type, "size": len(file.data), "sha256": sha256(file.data)}


def name_in(uri: str, otherwise: str) -> str:
    """Return a file name made of the end of an address; it is a name and no path."""
    path = uri.partition("?")[0].partition("#")[0]
    name = _NO_NAME.sub("-", path.rstrip("/").rpartition("/")[2]).strip(".-")
    return name[-_LONGEST_NAME:] or otherwise
