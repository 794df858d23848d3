"""Servers of a test's own, on free ports, that it may kill, restart and empty: MariaDB, Redis, PostgreSQL.

    with MariaDb(tmp_path) as server, server.database() as url: ...

`kill` is SIGKILL and returns when the process is gone, `start` when the server answers again, on the same port and with
what the disk kept. Both take up to a second: call them by `asyncio.to_thread` where a loop must go on meanwhile.
A server dies with the test process, however that ends. Where a program is missing the test is skipped, saying so.
"""

from __future__ import annotations

import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import pytest

START_S = 60.0
"""The longest a server may take to answer; a busy machine needs seconds."""
STOP_S = 10.0
"""How long a server gets to end by itself before it is killed."""
FIRST_PORT, PORTS = 10_000, 20_000
"""Below what systems give by themselves: 32768 and more on Linux, 49152 and more elsewhere."""
_SUPERVISOR = '"$@" </dev/null >&2 & echo $!; exec >/dev/null; cat; kill -KILL $! 2>/dev/null; wait $!'
"""Runs a program until its own standard input closes, which it does when the test process is gone."""


class Server(ABC):
    """A server with a folder and a port of its own. `with` starts it and stops it."""

    programs: tuple[str, ...]

    def __init__(self, folder: Path) -> None:
        self.folder = folder / f"{type(self).__name__.lower()}-{secrets.token_hex(4)}"
        self.port = free_port()
        self.log = self.folder / "server.log"
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._pid = 0

    def __enter__(self) -> Self:
        missing = [name for name in self.programs if not find_program(name)]
        if missing:
            pytest.skip(f"{', '.join(missing)} is not installed")
        self.folder.mkdir(parents=True)
        try:
            self.prepare()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The server's process; 0 while it is down."""
        return self._pid

    def start(self) -> None:
        """Start the server; return when it answers."""
        if self._pid:
            return
        with self.log.open("ab") as log:
            self._supervisor = subprocess.Popen(
                ["sh", "-c", _SUPERVISOR, "sh", *self.command()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                user=self.user(),
            )
        assert self._supervisor.stdout
        self._pid = int(self._supervisor.stdout.readline())
        self._await_answer()

    def stop(self) -> None:
        """Ask the server to end, as an operator would (SIGTERM); return when it is gone."""
        if not self._pid:
            return
        ended = os.pidfd_open(self._pid)
        try:
            self.signal(signal.SIGTERM)
            select.select([ended], [], [], STOP_S)
        finally:
            os.close(ended)
        self.kill()

    def kill(self) -> None:
        """Kill the server (SIGKILL); return when it is gone."""
        supervisor, self._supervisor, self._pid = self._supervisor, None, 0
        if supervisor:
            supervisor.communicate()  # closes its standard input: it kills the server and waits for it

    def restart(self) -> None:
        """Stop the server and start it again."""
        self.stop()
        self.start()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal: SIGSTOP makes it hang, SIGCONT wakes it."""
        os.kill(self._pid, number)

    def user(self) -> str | None:
        """The account that the server runs as; None is that of the test."""
        return None

    def prepare(self) -> None:  # noqa: B027  # most need nothing
        """Make what the first start needs."""

    @abstractmethod
    def command(self) -> list[str]:
        """The server's command line. It stays in the foreground."""

    @abstractmethod
    def ping(self) -> None:
        """Raise unless the server answers."""

    def _await_answer(self) -> None:
        until = time.monotonic() + START_S
        ended = os.pidfd_open(self._pid)
        try:
            while True:
                try:
                    return self.ping()
                except Exception as error:
                    if time.monotonic() > until or select.select([ended], [], [], 0.02)[0]:
                        said = self.log.read_text(errors="replace")[-2_000:]
                        raise RuntimeError(f"{type(self).__name__} on port {self.port}: {error}\n{said}") from error
        finally:
            os.close(ended)


class MariaDb(Server):
    """MariaDB; the user is `root`, without password.

    It flushes at every commit, as in production; not `durable`, what was committed survives its own death but no power
    cut, which is much faster.
    """

    programs = ("mariadbd", "mariadb-install-db")

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        super().__init__(folder)
        self._flush = 1 if durable else 2

    def prepare(self) -> None:
        _run(
            find_program("mariadb-install-db"),
            *self._arguments(),
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
        )

    def command(self) -> list[str]:
        return [
            find_program("mariadbd"),
            *self._arguments(),
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={_short_socket(self.port)}",
            "--skip-name-resolve",
            "--innodb-buffer-pool-size=64M",
            f"--innodb-flush-log-at-trx-commit={self._flush}",
            "--max-connections=300",
        ]

    def ping(self) -> None:
        with closing(self.connect()) as connection:
            connection.ping(reconnect=False)

    def connect(self) -> Any:
        """A driver's connection of the administrator."""
        import pymysql

        return pymysql.connect(host="127.0.0.1", port=self.port, user="root", connect_timeout=5, autocommit=True)

    @contextmanager
    def database(self, *, migrate: bool = True) -> Iterator[str]:
        """The address of a new database, by default at the schema of the program."""
        name = f"silicon_{secrets.token_hex(4)}"
        with closing(self.connect()) as connection:
            connection.cursor().execute(f"CREATE DATABASE {name}")
        yield _migrated(f"mysql://root@127.0.0.1:{self.port}/{name}", migrate=migrate)

    def _arguments(self) -> list[str]:
        account = ["--user=root"] if os.geteuid() == 0 else []
        return ["--no-defaults", *account, f"--datadir={self.folder / 'data'}"]


class PostgreSql(Server):
    """PostgreSQL; the user is `postgres`, without password. It refuses root, so root runs it as `postgres`."""

    programs = ("postgres", "initdb")

    def prepare(self) -> None:
        if self.user():
            # pytest keeps its folders to the account that made them, and each session closes their parent anew
            self.folder = Path(tempfile.mkdtemp(prefix=f"{self.folder.name}-"))
            self.log = self.folder / "server.log"
            shutil.chown(self.folder, self.user())
        data = str(self.folder / "data")
        _run(find_program("initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-N", user=self.user())

    def user(self) -> str | None:
        return "postgres" if os.geteuid() == 0 else None

    def command(self) -> list[str]:
        sockets = ["-c", "unix_socket_directories=", "-c", "listen_addresses=127.0.0.1"]
        return [find_program("postgres"), "-D", str(self.folder / "data"), "-p", str(self.port), *sockets]

    def ping(self) -> None:
        self.connect().close()

    def connect(self) -> Any:
        """A driver's connection of the administrator."""
        import psycopg

        return psycopg.connect(f"{self._address}postgres", autocommit=True, connect_timeout=5)

    @contextmanager
    def database(self, *, migrate: bool = True) -> Iterator[str]:
        """The address of a new database, by default at the schema of the program."""
        name = f"silicon_{secrets.token_hex(4)}"
        with closing(self.connect()) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        yield _migrated(f"{self._address}{name}", migrate=migrate)

    @property
    def _address(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/"


class Redis(Server):
    """Redis that keeps nothing on disk: killed and started again it is empty."""

    programs = ("redis-server",)

    @property
    def url(self) -> str:
        """The address as the settings take it."""
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> list[str]:
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        return [find_program("redis-server"), *arguments, "--save", "", "--appendonly", "no"]

    def ping(self) -> None:
        assert self.ask("PING") == b"+PONG\r\n"

    def flush(self) -> None:
        """Forget everything, at once."""
        assert self.ask("FLUSHALL") == b"+OK\r\n"

    def ask(self, command: str) -> bytes:
        """The answer to a command of one line, as it came in."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(command.encode() + b"\r\n")
            return connection.recv(65_536)


@pytest.fixture(scope="session")
def mariadb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    """One server for all tests of a process; take a `database()` of it, and leave it running."""
    with MariaDb(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[Redis]:
    """An empty Redis for one test."""
    with Redis(tmp_path) as server:
        yield server


def free_port() -> int:
    """A port that nobody listens on.

    It is none of those that the system gives by itself, to outgoing connections too: whoever was given it while its
    server is down would keep the server from coming back.
    """
    while True:
        port = FIRST_PORT + secrets.randbelow(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def find_program(name: str) -> str:
    """The program's path, also where distributions hide servers; empty where it is missing."""
    hidden = [
        "/usr/sbin",
        "/usr/local/sbin",
        *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)),
    ]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(hidden)) or ""


def _migrated(url: str, *, migrate: bool) -> str:
    from runtime.ledger import upgrade

    if migrate:
        upgrade(url)
    return url


def _run(*command: str, user: str | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, user=user, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout[-1_000:]}\n{done.stderr[-1_000:]}")


def _short_socket(port: int) -> str:
    """A socket's path may not be longer than about 100 characters, which folders of tests are."""
    return f"@silicon-test-{os.getpid()}-{port}" if Path("/proc/net/unix").exists() else ""
