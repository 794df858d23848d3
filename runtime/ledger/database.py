"""One database as the ledger sees it: its address, what its kind does differently, and its connections."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from runtime.addresses import require_quoted
from runtime.errors import SettingsError
from runtime.ledger.faults import PACKET_BYTES, TOO_LONG_NUMBER, is_locked, translate
from runtime.ledger.parameters import connecting, require_known
from runtime.ledger.read_only import in_file, is_read_only, to_open
from runtime.settings.groups import LedgerSettings

FILE_NAME = "silicon.db"
_AGAIN_S = 0.02
_DRIVERS = {"mysql": "mysql+pymysql", "mariadb": "mysql+pymysql", "postgresql": "postgresql+psycopg"}


@dataclass(frozen=True, slots=True)
class Flavour:
    """What one kind of database does differently from the others."""

    begin: str
    """Starts the writer's transaction."""
    wait: str
    """Makes the writer wait again for whoever else writes."""
    wait_not: str
    """Makes the writer refuse at once while somebody else writes; empty where it takes a network in any case."""
    begin_snapshot: str
    """Starts a reader's transaction in which nothing changes."""
    on_connect: tuple[str, ...]
    connect_args: dict[str, Any]
    engine_args: dict[str, Any]


class Database:
    """The engine for one address. Nothing connects until the first statement."""

    def __init__(self, url: URL, settings: LedgerSettings) -> None:
        self.url = url
        self.flavour = _flavour(url, settings)
        self._busy_s = settings.busy_timeout_s
        self.on_break: list[Callable[[], None]] = []
        """Called, from any thread, when a connection is made or fails: whatever was remembered of what the database
        holds may not hold of the one that stands there now."""
        try:
            require_known(url)
            self.engine: Engine = create_engine(
                to_open(url),
                isolation_level="AUTOCOMMIT",
                connect_args=self.flavour.connect_args,
                **self.flavour.engine_args,
            )
        except ModuleNotFoundError as error:
            raise SettingsError(
                f"The database {self.address} needs the Python package {error.name}, which is not installed. "
                "Install it into the environment of silicon, or choose another database in `ledger.url`.",
                address=self.address,
            ) from error
        event.listen(self.engine, "do_connect", connecting(url))
        event.listen(self.engine, "connect", self._on_connect)

    @property
    def address(self) -> str:
        """The address as people may see it: without the password and the parameters, one of which may be a password."""
        if self.url.get_backend_name() == "sqlite":
            return str(self.url.database)
        return self.url.set(query={}).render_as_string(hide_password=True)

    @property
    def embedded(self) -> bool:
        """Whether the database is a file of this machine, which the program migrates by itself."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def driver_error(self) -> type[Exception]:
        """The base class of the driver's errors."""
        error: type[Exception] = self.engine.dialect.loaded_dbapi.Error
        return error

    def translate(self, error: BaseException) -> Exception:
        """Return the driver's error as one of ours."""
        self._break()
        file = in_file(self.url)
        return translate(error, self.address, read_only=file is not None and is_read_only(file))

    def _on_connect(self, connection: DBAPIConnection, _record: object) -> None:
        cursor = connection.cursor()
        for statement in self.flavour.on_connect:
            self._set_up(cursor, statement)
        if self.url.get_backend_name() in ("mysql", "mariadb"):
            self._require_packet(cursor)
        cursor.close()
        self._break()

    def _set_up(self, cursor: Any, statement: str) -> None:
        """Carry a statement out; on SQLite as long as others hold the file, at most as long as its own wait.

        SQLite refuses to change the journal at once while somebody else is about to write, without that wait: two that
        open a new ledger at the same moment.
        """
        until = time.monotonic() + self._busy_s
        while True:
            try:
                cursor.execute(statement)
                return
            except self.driver_error as error:
                if not is_locked(error) or time.monotonic() > until:
                    raise
                time.sleep(_AGAIN_S)

    def _require_packet(self, cursor: Any) -> None:
        cursor.execute("SELECT @@max_allowed_packet")
        (most,) = cursor.fetchone()
        if most < PACKET_BYTES:
            raise self.driver_error(TOO_LONG_NUMBER, f"max_allowed_packet is {most}")

    def _break(self) -> None:
        for forget in tuple(self.on_break):
            forget()


def address_of(settings: LedgerSettings, home: Path) -> URL:
    """Return the address that the settings mean; raise SettingsError for one that is none."""
    if not settings.url:
        return URL.create("sqlite", database=str(home / FILE_NAME))
    return parse_address(settings.url)


def parse_address(text: str) -> URL:
    """Return `text` as the address of a database with the driver we use; raise SettingsError for one that is none."""
    require_quoted(text, name="ledger.url", by_standard=False)
    try:
        url = make_url(text)
        backend = url.get_backend_name()
        if backend not in ("sqlite", *_DRIVERS) or not url.database or url.database == ":memory:":
            raise ArgumentError("unknown kind, or no database named")
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise SettingsError(
            "The setting `ledger.url` is not an address of a database that silicon can use. It looks like "
            "sqlite:////folder/silicon.db, mysql://user:password@host/database or "
            "postgresql://user:password@host/database.",
        ) from None  # whose words may repeat a part of the password
    return url.set(drivername=_DRIVERS.get(backend, "sqlite"))


def _flavour(url: URL, settings: LedgerSettings) -> Flavour:
    wait_s = max(1, round(settings.busy_timeout_s))
    match url.get_backend_name():
        case "sqlite":
            return Flavour(
                begin="BEGIN IMMEDIATE",
                wait=f"PRAGMA busy_timeout={round(settings.busy_timeout_s * 1_000)}",
                wait_not="PRAGMA busy_timeout=0",
                begin_snapshot="BEGIN",
                on_connect=(
                    "PRAGMA journal_mode=WAL",
                    f"PRAGMA synchronous={settings.synchronous}",
                    "PRAGMA secure_delete=ON",
                ),
                connect_args={"timeout": settings.busy_timeout_s, "check_same_thread": False},
                engine_args={},
            )
        case "mysql" | "mariadb":
            return Flavour(
                begin="BEGIN",
                wait="",
                wait_not="",
                begin_snapshot="START TRANSACTION WITH CONSISTENT SNAPSHOT",
                on_connect=(
                    f"SET SESSION innodb_lock_wait_timeout={wait_s}",
                    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                    "SET SESSION sql_mode=CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')",
                ),
                connect_args={"charset": "utf8mb4", "connect_timeout": 10},
                engine_args={"pool_pre_ping": True, "paramstyle": "format"},
            )
        case _:
            return Flavour(
                begin="BEGIN",
                wait="",
                wait_not="",
                begin_snapshot="BEGIN ISOLATION LEVEL REPEATABLE READ",
                on_connect=(f"SET lock_timeout={wait_s * 1_000}",),
                connect_args={"connect_timeout": 10},
                engine_args={"pool_pre_ping": True, "paramstyle": "format"},
            )
