"""What only the HTTP API refuses.

SiliconError
├── NotReady          the server is stopping, or the ledger is away or full         (try later, or elsewhere)
│   └── TooManyReaders  as many readers of events as the server serves
├── LoginRefused      it was not proven who logs in, for whatever reason             (look at name and password)
├── TooManyLogins     too many tries for the account or from the address             (wait)
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


class LoginRefused(SiliconError):
    """It was not proven who logs in; it is not told whether the name or the password was wrong."""

    code = "LOGIN_REFUSED"


class TooManyLogins(SiliconError):
    """Too many logins were tried for the account or from the address."""

    code = "TOO_MANY_LOGINS"
