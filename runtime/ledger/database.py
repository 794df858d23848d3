"""One database as the ledger sees it: its address, what its kind does differently, and its connections."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from runtime.errors import SettingsError
from runtime.ledger.faults import translate
from runtime.settings.groups import LedgerSettings

FILE_NAME = "silicon.db"
_DRIVERS = {"mysql": "mysql+pymysql", "mariadb": "mysql+pymysql", "postgresql": "postgresql+psycopg"}


@dataclass(frozen=True, slots=True)
class Flavour:
    """What one kind of database does differently from the others."""

    begin: str
    """Starts the writer's transaction."""
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
        try:
            self.engine: Engine = create_engine(
                url,
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
        event.listen(self.engine, "connect", self._on_connect)

    @property
    def address(self) -> str:
        """The address as people may see it: without the password."""
        if self.url.get_backend_name() == "sqlite":
            return str(self.url.database)
        return self.url.render_as_string(hide_password=True)

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
        return translate(error, self.address)

    def _on_connect(self, connection: DBAPIConnection, _record: object) -> None:
        cursor = connection.cursor()
        for statement in self.flavour.on_connect:
            cursor.execute(statement)
        cursor.close()


def address_of(settings: LedgerSettings, home: Path) -> URL:
    """Return the address that the settings mean; raise SettingsError for one that is none."""
    if not settings.url:
        return URL.create("sqlite", database=str(home / FILE_NAME))
    return parse_address(settings.url)


def parse_address(text: str) -> URL:
    """Return `text` as the address of a database with the driver we use; raise SettingsError for one that is none."""
    try:
        url = make_url(text)
        backend = url.get_backend_name()
        if backend not in ("sqlite", *_DRIVERS) or not url.database or url.database == ":memory:":
            raise ArgumentError("unknown kind, or no database named")
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise SettingsError(
            "The setting `ledger.url` is not an address of a database that silicon can use. It looks like "
            "sqlite:////folder/silicon.db, mysql://user:password@host/database or "
            "postgresql://user:password@host/database.",
        ) from error
    return url.set(drivername=_DRIVERS.get(backend, "sqlite"))


def _flavour(url: URL, settings: LedgerSettings) -> Flavour:
    wait_s = max(1, round(settings.busy_timeout_s))
    match url.get_backend_name():
        case "sqlite":
            return Flavour(
                begin="BEGIN IMMEDIATE",
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
                begin_snapshot="BEGIN ISOLATION LEVEL REPEATABLE READ",
                on_connect=(f"SET lock_timeout={wait_s * 1_000}",),
                connect_args={"connect_timeout": 10},
                engine_args={"pool_pre_ping": True, "paramstyle": "format"},
            )
