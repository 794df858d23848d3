"""The servers that tests start for themselves."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from tests.servers import MariaDb, PostgreSql, Redis


@pytest.mark.parametrize("kind", [MariaDb, PostgreSql])
def test_a_database_keeps_what_was_committed_when_it_is_killed(
    kind: type[MariaDb] | type[PostgreSql], tmp_path: Path
) -> None:
    with kind(tmp_path) as server, server.database() as url:
        name = url.rpartition("/")[2]
        server.kill()
        with pytest.raises(Exception, match=r"(?i)connect"):
            server.connect()

        server.start()

        with closing(server.connect()) as connection, closing(connection.cursor()) as cursor:
            databases = "SHOW DATABASES" if kind is MariaDb else "SELECT datname FROM pg_database"
            cursor.execute(databases)
            assert (name,) in [tuple(row) for row in cursor.fetchall()]


def test_redis_comes_back_empty(tmp_path: Path) -> None:
    with Redis(tmp_path) as server:
        server.ask("SET key value")
        server.restart()

        assert server.ask("GET key") == b"$-1\r\n"


def test_a_server_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = (
        "import os, sys, pathlib; from tests.servers import Redis\n"
        f"server = Redis(pathlib.Path({str(tmp_path)!r})).__enter__()\n"
        "print(server.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if not said.stdout:
        pytest.skip(said.stderr.strip().rpartition("\n")[2])

    if psutil.pid_exists(int(said.stdout)):
        psutil.Process(int(said.stdout)).wait(timeout=60)
