"""Addresses of blobs in payloads, found by their look, so that none is missed whatever a payload calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contracts import Sha256

_ADDRESS = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


def mentioned(payload: bytes | None) -> Iterator[Sha256]:
    """Yield whatever in a payload looks like the address of a blob; nothing for one that was erased."""
    return (found.decode() for found in _ADDRESS.findall(payload or b""))
