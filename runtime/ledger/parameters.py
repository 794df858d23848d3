"""What stands behind the `?` of `ledger.url`: parameters of the driver, refused by name where it has none such."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

from sqlalchemy import URL
from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect

from runtime.errors import SettingsError

_SQLITE = {"uri", "timeout", "isolation_level", "detect_types", "check_same_thread", "cached_statements"}
_ODD = (TypeError, ValueError, AttributeError, LookupError)
"""What drivers raise for a value of a parameter that they cannot work with."""


def require_known(url: URL) -> None:
    """Raise SettingsError for parameters that the driver does not know, or whose values it cannot read.

    Raises:
        ModuleNotFoundError: the driver is not installed.
    """
    if not url.query:
        return
    dialect = url.get_dialect()()
    backend, known = url.get_backend_name(), set(_names_known(url))
    unknown = [name for name in url.query if backend == "sqlite" and known and name not in known]
    if not unknown:
        uri = {"uri": url.query["uri"]} if "uri" in url.query else {}  # says whose parameters the others are
        alone = {name: url.set(query={name: value, **uri}) for name, value in url.query.items()}
        unreadable = [name for name, each in alone.items() if not _reads(dialect, each)]
        if unreadable:
            raise _refused(unreadable, "cannot be used with the value it has")
        taken = dialect.create_connect_args(url)[1]
        unknown = [name for name in taken if backend != "sqlite" and name not in known]
    if unknown:
        near = get_close_matches(unknown[0], known, n=1)
        hint = " One of SQLite itself needs `uri=true` beside it." if backend == "sqlite" else ""
        hint = f" Did you mean {near[0]}?" if near else hint
        raise _refused(unknown, f"is not known to the driver {dialect.driver}", hint)


def connecting(url: URL) -> Callable[..., DBAPIConnection | None]:
    """Return what connects in the place of SQLAlchemy, so that a parameter's value that a driver trips over is told."""

    def connect(dialect: Any, _record: object, arguments: Any, named: Any) -> DBAPIConnection | None:
        try:
            connection: DBAPIConnection = dialect.connect(*arguments, **named)
        except _ODD:
            if not url.query:
                raise
            raise _refused(list(url.query), "cannot be used with the value it has") from None  # which may be a secret
        return connection

    return connect


def _reads(dialect: Dialect, url: URL) -> bool:
    try:
        dialect.create_connect_args(url)
    except _ODD:
        return False
    return True


def _names_known(url: URL) -> Iterator[str]:
    """Yield the names that the driver knows; none where every name is let through."""
    match url.get_backend_name():
        case "sqlite":
            yield from () if "uri" in url.query else _SQLITE
        case "postgresql":
            from psycopg.pq import Conninfo

            yield from (option.keyword.decode() for option in Conninfo.get_defaults())
        case _:
            from pymysql.connections import Connection

            yield from inspect.signature(Connection.__init__).parameters


def _refused(names: list[str], why: str, hint: str = "") -> SettingsError:
    listed = ", ".join(f"`{name}`" for name in names)
    one = f"The parameter {listed}" if len(names) == 1 else f"One of the parameters {listed}"
    return SettingsError(
        f"{one} of the setting `ledger.url` {why}.{hint} Correct it, or leave it out.", parameters=[*names]
    )
