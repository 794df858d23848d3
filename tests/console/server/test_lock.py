"""An embedded ledger has one server, by a lock that cannot outlive its process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from console.server.errors import ServerRunning
from console.server.lock import only_server_of
from runtime.errors import LedgerUnavailable

HOLD = "import sys; from pathlib import Path; from console.server.lock import only_server_of\n" \
       "with only_server_of(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"  # fmt: skip


def test_a_second_one_is_refused_and_told_which_process_has_it(tmp_path: Path) -> None:
    with only_server_of(tmp_path / "silicon.db"):
        with pytest.raises(ServerRunning, match=f"process id {os.getpid()} works on") as refused:
            only_server_of(tmp_path / "silicon.db").__enter__()
        with only_server_of(tmp_path / "other.db"):
            pass

    assert refused.value.facts["pid"] == str(os.getpid())
    with only_server_of(tmp_path / "silicon.db"):
        pass


def test_another_name_of_the_same_file_is_the_same_ledger(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "silicon.db")

    with only_server_of(tmp_path / "silicon.db"), pytest.raises(ServerRunning):
        only_server_of(tmp_path / "link.db").__enter__()


def test_the_lock_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    database = tmp_path / "silicon.db"
    words = [sys.executable, "-c", HOLD, str(database)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(ServerRunning, match=f"process id {other.pid} works on"), only_server_of(database):
            pass
        other.kill()
        other.wait()
        with only_server_of(database):
            pass


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="Have the right to write there"):
        only_server_of(tmp_path / "missing" / "silicon.db").__enter__()
