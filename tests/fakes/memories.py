"""Memories to try things with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from contracts import HolderKind, MemoryClass, MemoryHolder, MemoryKind
from memory.records.port import MemoryDraft

ORGANISATION = "three-airports"
BUSINESS = MemoryHolder(kind=HolderKind.BUSINESS, name=ORGANISATION)
ANN = MemoryHolder(kind=HolderKind.PERSON, name="ann")
BEN = MemoryHolder(kind=HolderKind.PERSON, name="ben")
ANALYST = MemoryHolder(kind=HolderKind.AGENT, name="analyst")
_DRAFT = MemoryDraft("The fiscal year starts in April.", MemoryKind.SEMANTIC, MemoryClass.OTHER, BUSINESS)


def a_draft(text: str = _DRAFT.text, **changes: Any) -> MemoryDraft:
    """Return something of the business to remember."""
    return replace(_DRAFT, text=text, **changes)
