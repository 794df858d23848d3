"""What only the HTTP API refuses.

SiliconError
├── NotReady          the server is stopping, or the ledger is away or full         (try later, or elsewhere)
│   └── TooManyReaders  as many readers of events as the server serves
└── InvalidArguments
    └── CursorAhead   a cursor lies behind the last event of this ledger            (begin without one)
"""

from __future__ import annotations

from runtime.errors import InvalidArguments, SiliconError


class NotReady(SiliconError):
    """The server cannot serve this at the moment."""

    code = "NOT_READY"


class TooManyReaders(NotReady):
    """This server has as many readers of events as it serves."""

    code = "TOO_MANY_READERS"


class CursorAhead(InvalidArguments):
    """A cursor lies behind the last event of this ledger."""

    code = "CURSOR_AHEAD"
