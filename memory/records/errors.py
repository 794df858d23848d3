"""Errors of memories.

SiliconError
└── MemoryPast          the record's state does not allow it; nothing was changed
"""

from __future__ import annotations

from runtime.errors import SiliconError


class MemoryPast(SiliconError):
    """The record stands where this cannot be done to it any more; nothing was changed."""

    code = "MEMORY_PAST"
