"""What a driver says, as an error that tells a person what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from sqlalchemy.exc import DBAPIError

from runtime.errors import LedgerError, LedgerFull, LedgerUnavailable, SchemaMismatch
from runtime.ledger.read_only import CANNOT_BE_READ

_LOCKED = (
    "Another program holds the ledger {address} locked for writing. Wait for it, or end it, then run the command again."
)
_FULL = "The disk of the ledger {address} is full; nothing was written. Free some space, then run the command again."
_SQLITE: Mapping[str, str] = {
    "BUSY": _LOCKED,
    "LOCKED": _LOCKED,
    "READONLY": "The ledger {address} cannot be written: the file, its folder or their disk is read-only. "
    "Make them writable, or choose another home folder.",
    "CANTOPEN": "The ledger {address} cannot be opened or made. Check that its folder exists and that you may write "
    "there, or choose another home folder.",
    "FULL": _FULL,
    "IOERR": "The disk of the ledger {address} reports a fault ({error}). Check the disk and its free space, then run "
    "the command again.",
    "CORRUPT": "The file {address} is damaged ({error}). Restore it from a backup.",
    "NOTADB": "The file {address} is not a ledger. Move it away, or choose another home folder.",
}

_NO_TABLE = "The database {address} has no ledger in it yet. Run `silicon db upgrade`."
_REFUSED = "The database {address} refused the user name or password. Correct `ledger.url`."
_NO_DATABASE = "The server has no database of the name given in {address}. Create it, or correct `ledger.url`."
_READ_ONLY = (
    "The database {address} is read-only for this user or at this moment. "
    "Write to its primary server, or have the right granted."
)
_GONE = (
    "The database server of {address} cannot be reached ({error}). "
    "Check that it runs and that `ledger.url` is right, then run the command again."
)
PACKET_BYTES = 16 * 1024 * 1024
"""What a MySQL server has to take at once. One that takes less drops the connection in the middle of what it is sent,
which looks as if it were away, for ever."""
_TOO_LONG = "The server of {address} takes no statement of 16 MiB. Set its max_allowed_packet to 16 MiB or more."

TOO_LONG_NUMBER = 1153
_MYSQL: Mapping[int, str] = {
    1044: _REFUSED, 1045: _REFUSED, 1698: _REFUSED, 1049: _NO_DATABASE, 1142: _READ_ONLY,
    1205: _LOCKED, 1213: _LOCKED, 1290: _READ_ONLY, 1792: _READ_ONLY, 1114: _FULL, 1021: _FULL,
    TOO_LONG_NUMBER: _TOO_LONG,
    2002: _GONE, 2003: _GONE, 2005: _GONE, 2006: _GONE, 2013: _GONE, 1053: _GONE, 1040: _GONE,
}  # fmt: skip
_POSTGRESQL: Mapping[str, str] = {
    "28P01": _REFUSED, "28000": _REFUSED, "3D000": _NO_DATABASE, "42501": _READ_ONLY, "25006": _READ_ONLY,
    "55P03": _LOCKED, "40P01": _LOCKED, "40001": _LOCKED, "53100": _FULL, "57P01": _GONE, "53300": _GONE,
}  # fmt: skip


def is_locked(error: BaseException) -> bool:
    """Whether SQLite refused because another connection holds the file."""
    name = getattr(error, "sqlite_errorname", "") or ""
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def translate(error: BaseException, address: str, *, read_only: bool = False) -> Exception:
    """Return the error of a driver as LedgerUnavailable, LedgerFull or SchemaMismatch with what to do about it."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(cause, LedgerError):
        return cause
    said = " ".join(str(cause).split())[:300]
    if _lacks_a_table(cause, said):
        return SchemaMismatch(_NO_TABLE.format(address=address), address=address)
    advice = _advice(cause, said)
    if read_only and advice == _SQLITE["CANTOPEN"]:
        advice = CANNOT_BE_READ
    if advice is None:
        advice = "The ledger {address} cannot be used: {error}. The log file has the details."
    kind = LedgerFull if advice in (_FULL, _SQLITE["IOERR"]) else LedgerUnavailable
    return kind(advice.format(address=address, error=said), address=address, error=said)


def _advice(cause: BaseException, said: str) -> str | None:
    if isinstance(cause, sqlite3.Error):
        name = getattr(cause, "sqlite_errorname", "") or ""
        return next((text for key, text in _SQLITE.items() if name.startswith(f"SQLITE_{key}")), None)
    if isinstance(cause, OSError):
        return _GONE
    if _number(cause) >= 0:
        return _MYSQL.get(_number(cause))
    state = getattr(cause, "sqlstate", None)
    if isinstance(state, str):
        return _POSTGRESQL.get(state, _GONE if state.startswith("08") else None)
    if hasattr(cause, "sqlstate"):  # psycopg knows no state when the server did not let it in
        return next((text for sign, text in _PSYCOPG_SAYS.items() if sign in said), _GONE)
    return None


_PSYCOPG_SAYS: Mapping[str, str] = {
    "password authentication failed": _REFUSED,
    "no password supplied": _REFUSED,
    "role": _REFUSED,
    "database": _NO_DATABASE,
}


def _lacks_a_table(cause: BaseException, said: str) -> bool:
    return (
        (isinstance(cause, sqlite3.Error) and said.startswith("no such table"))
        or getattr(cause, "sqlstate", None) == "42P01"
        or _number(cause) == 1146
    )


def _number(error: BaseException) -> int:
    first = error.args[0] if error.args else None
    return first if isinstance(first, int) else -1
