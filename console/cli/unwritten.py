"""An answer that nobody gets."""

from __future__ import annotations


class AnswerNotWritten(OSError):
    """Standard output takes no more, for example because its disk is full."""
