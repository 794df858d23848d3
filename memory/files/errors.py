"""Errors of the files of memories.

SiliconError
└── FilesBusy          another process reads or writes them; try again
"""

from __future__ import annotations

from runtime.errors import SiliconError


class FilesBusy(SiliconError):
    """Somebody else exports, imports or erases at this moment; nothing was changed."""

    code = "MEMORY_FILES_BUSY"
