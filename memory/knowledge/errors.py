"""Errors of knowledge folders.

SiliconError
├── KnowledgeBusy        somebody else writes; try again
├── KnowledgeUnreadable  a file is no text, or cannot be read
├── KnowledgeUnwritable  a file cannot be written
└── NotAMemory           it belongs nowhere in the knowledge, or somewhere else
"""

from __future__ import annotations

from runtime.errors import SiliconError


class KnowledgeBusy(SiliconError):
    """Somebody else writes in the folder; nothing was changed."""

    code = "KNOWLEDGE_BUSY"


class KnowledgeUnreadable(SiliconError):
    """A file of the knowledge cannot be read."""

    code = "KNOWLEDGE_UNREADABLE"


class KnowledgeUnwritable(SiliconError):
    """The folder cannot be written; what was begun is finished once it can."""

    code = "KNOWLEDGE_UNWRITABLE"


class NotAMemory(SiliconError):
    """What was to be written down is no knowledge, belongs to another place, or stands somewhere already."""

    code = "NOT_A_MEMORY"
