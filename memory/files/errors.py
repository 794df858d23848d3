"""Errors of the files of memories.

SiliconError
├── FilesBusy          another process reads or writes them; try again
└── FilesKeepWords     a file that somebody edited still holds words that were erased (import or delete it)
"""

from __future__ import annotations

from runtime.errors import SiliconError


class FilesBusy(SiliconError):
    """Somebody else exports, imports or erases at this moment; nothing was changed."""

    code = "MEMORY_FILES_BUSY"


class FilesKeepWords(SiliconError):
    """The words are erased everywhere but in files that somebody edited and did not import, which nobody overwrites."""

    code = "MEMORY_FILES_KEEP_WORDS"
