"""Scripts that mean harm, over every driver of this machine.

Each does none, is reported for what it is, and leaves the slot as good as new. Where a driver cannot hold one, it says
so in `cannot_enforce`, and the script gets through: these tests assert exactly that.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import Any

import psutil
import pytest

from cluster.sandbox import Lack, SandboxDriver
from runtime.capabilities.port import NO_GRANTS, Grants, Sandbox, SandboxResult
from runtime.capabilities.slot_files import list_files, read_file
from runtime.errors import SiliconError
from runtime.settings import SlotSettings
from tests.cluster.sandbox.drivers import DRIVERS

pytestmark = pytest.mark.anyio
SCRIPTS = Path(__file__).parent / "hostile"
SMALL = SlotSettings(
    cpu_s=20, wall_s=20, memory_mib=256, file_mib=1, disk_mib=8, processes=12, output_kib=64, result_kib=64
)


class Ground:
    """A slot of a driver, and how a script in it ended."""

    def __init__(self, driver: SandboxDriver, sandbox: Sandbox) -> None:
        self.driver, self.sandbox = driver, sandbox

    def lacks(self, lack: Lack) -> bool:
        return lack.value in self.driver.cannot_enforce

    async def run(
        self, name: str, inputs: dict[str, Any] | None = None, *, wall_s: float = 20, grants: Grants = NO_GRANTS
    ) -> SandboxResult:
        """Run a script of the corpus; afterwards the slot has to be as good as new."""
        script = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
        ended = await self.sandbox.run_python(
            script, stdin=json.dumps(inputs or {}).encode(), wall_s=wall_s, grants=grants
        )
        self.fresh = await self.driver.open(self.sandbox.folder)
        again = await self.fresh.run_python("open('a', 'w').write('b'); import os; result = os.listdir()")
        assert json.loads(again.answer) == {"state": "done", "result": ["a"]}, again
        return ended


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> SandboxDriver:
    made: SandboxDriver = request.param(SMALL)
    return made


@pytest.fixture
async def ground(driver: SandboxDriver, tmp_path: Path) -> AsyncIterator[Ground]:
    sandbox = await driver.open(tmp_path / "slots" / "one")
    yield Ground(driver, sandbox)
    await driver.close(sandbox)
    assert list((tmp_path / "slots").iterdir()) == []


def result_of(ended: SandboxResult) -> Any:
    told = json.loads(ended.answer)
    assert told["state"] == "done", (told, ended)
    return told["result"]


async def test_no_more_processes_than_allowed(ground: Ground) -> None:
    started = result_of(await ground.run("fork_bomb"))

    assert (started >= SMALL.processes) == ground.lacks(Lack.PROCESSES)


async def test_a_storm_of_forks_ends_with_its_time(ground: Ground) -> None:
    if ground.lacks(Lack.PROCESSES):
        pytest.skip("nothing limits it here, and cannot_enforce says so")
    ended = await ground.run("fork_storm", wall_s=1)

    assert ended.killed_for in ("wall_time", "cpu_time")


async def test_memory_ends_where_the_slot_ends(ground: Ground) -> None:
    assert (await ground.run("memory_bomb")).killed_for == "memory"


async def test_a_family_has_no_more_memory_than_one(ground: Ground) -> None:
    ended = await ground.run("memory_family")

    assert ended.killed_for == "memory" or result_of(ended).count(0) <= 1


async def test_no_file_is_larger_than_allowed(ground: Ground) -> None:
    assert result_of(await ground.run("big_file")) == ["File too large", "File too large"]


@pytest.mark.parametrize("script", ["many_files", "empty_files", "deleted_files", "zip_bomb"])
async def test_the_disk_ends_where_the_slot_ends(ground: Ground, script: str) -> None:
    grants = Grants(memory_mib=4_096)  # where the disk is in memory, what is written counts as that too

    assert (await ground.run(script, grants=grants)).killed_for == "disk"


async def test_folders_deeper_than_a_path_are_refused_and_removed(ground: Ground) -> None:
    ended = await ground.run("deep_folders")

    assert ended.killed_for == "disk" or result_of(ended) == "nested"


async def test_nothing_is_read_that_is_not_its_own(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "SECRET_OF_THE_PARENT")
    (tmp_path / "secret").write_text("of the organisation")
    inputs = {"paths": [str(tmp_path / "secret")], "parent": os.getpid(), "harmless": _bare_root(tmp_path)}

    found = result_of(await ground.run("read_secrets", inputs))

    assert bool(found) == ground.lacks(Lack.READING), found


async def test_nothing_is_written_outside_its_folder(ground: Ground, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    everybodys = [Path(folder) / f"hostile-{os.getpid()}" for folder in ("/dev/shm", "/tmp")]
    left = [tmp_path / "open" / "file", *everybodys]

    written = result_of(await ground.run("write_outside", {"paths": list(map(str, left))}))

    remain = [str(path) for path in left if path.exists()]
    for path in map(Path, {*written, *remain}):
        path.unlink(missing_ok=True)
    assert bool(remain) == ground.lacks(Lack.WRITING), remain
    assert set(written) <= {*map(str, everybodys), *remain} or ground.lacks(Lack.WRITING)


class Services:
    """Somebody of this machine on every kind of socket."""

    def __init__(self, open_until: ExitStack, folder: Path) -> None:
        def listening(family: int, kind: int, address: Any) -> socket.socket:
            made = open_until.enter_context(socket.socket(family, kind))
            made.bind(address)
            if kind == socket.SOCK_STREAM:
                made.listen()
            made.settimeout(5)
            return made

        self.tcp = listening(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.udp = listening(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self.path, self.name = str(folder / "service.sock"), token_hex(8)
        self.unix = listening(socket.AF_UNIX, socket.SOCK_STREAM, self.path)
        self.abstract = listening(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.name}")
        Path(self.path).chmod(0o777)

    def heard(self) -> bytes:
        """Return what came by UDP, which tells no sender whether it arrived."""
        self.udp.setblocking(False)
        try:
            return self.udp.recv(100)
        except BlockingIOError:
            return b""

    def inputs(self) -> dict[str, Any]:
        ports = {"tcp": self.tcp.getsockname()[1], "udp": self.udp.getsockname()[1]}
        return {**ports, "unix": self.path, "abstract": self.name}


@pytest.fixture
def services() -> Iterator[Services]:
    with ExitStack() as open_until:
        folder = Path("/tmp") / f"silicon-{token_hex(8)}"
        folder.mkdir(mode=0o755)
        open_until.callback(folder.rmdir)
        made = Services(open_until, folder)
        open_until.callback(os.unlink, made.path)
        yield made


async def test_nobody_is_reached(ground: Ground, services: Services) -> None:
    if ground.lacks(Lack.NETWORK):
        reached = result_of(await ground.run("connect", {**services.inputs(), "metadata": False}))
        assert (reached["tcp"], reached["abstract"], services.heard()) == ("reached", "reached", b"hello")
        return

    reached = result_of(await ground.run("connect", services.inputs()))

    assert {"reached", "timeout"}.isdisjoint(reached.values()), reached
    assert services.heard() == b""


async def test_with_the_grant_the_network_is_there_and_unix_sockets_are_not(ground: Ground, services: Services) -> None:
    if ground.lacks(Lack.NETWORK):
        pytest.skip("it is there anyhow, and cannot_enforce says so")
    asked = {**services.inputs(), "metadata": False}

    reached = result_of(await ground.run("connect", asked, grants=Grants(network=True)))

    assert (reached["tcp"], services.heard()) == ("reached", b"hello")
    assert "reached" not in (reached["unix"], reached["abstract"])


async def test_a_daemon_does_not_survive(ground: Ground) -> None:
    seconds = f"61.{os.getpid()}{len(ground.driver.name)}"

    assert result_of(await ground.run("daemon", {"seconds": seconds})) == "left"

    left = [found for found in psutil.process_iter(["cmdline"]) if found.info["cmdline"] == ["sleep", seconds]]
    for found in left:
        found.kill()
    assert bool(left) == ground.lacks(Lack.HIDING)


async def test_other_programs_are_left_alone(ground: Ground) -> None:
    with _someone() as victim:
        worked = result_of(await ground.run("attack_others", {"victim": victim.pid}))
        victim.kill()

    assert ("signal" in worked) == ground.lacks(Lack.OTHER_PROGRAMS)
    assert ground.lacks(Lack.OTHER_PROGRAMS) or worked == []


async def test_the_trusted_side_follows_no_link_that_a_script_left(ground: Ground) -> None:
    ended = await ground.sandbox.run_python((SCRIPTS / "links.py").read_text(encoding="utf-8"))
    moved = ground.sandbox.folder.with_name("one-moved")
    if result_of(ended) == "moved":
        assert ground.lacks(Lack.WRITING)
        moved.rename(ground.sandbox.folder)
    for name in ("passwd", "etc/passwd", "pipe", "loop2/passwd", "../secret", "/etc/passwd", "closed/../passwd"):
        with pytest.raises(SiliconError):
            read_file(ground.sandbox.folder, name, most=1_000)

    assert {name for name, _ in list_files(ground.sandbox.folder, most=100)} <= {"closed/file", "hard"}


async def test_no_right_is_gained(ground: Ground) -> None:
    got = result_of(await ground.run("new_rights", {"shared": ground.driver.name != "rlimits"}))

    assert bool(got) == ground.lacks(Lack.KERNEL), got


async def test_errors_for_ever_end_with_what_is_kept(ground: Ground) -> None:
    ended = await ground.run("endless_errors")

    assert ended.killed_for == "output"
    assert len(ended.stderr) == SMALL.output_kib * 1_024


def _someone() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


def _bare_root(tmp_path: Path) -> list[str]:
    """Return the names of folders on a machine on which only what a slot may see exists."""
    needed = [part for path in (Path(sys.prefix), Path(sys.base_prefix), tmp_path, SCRIPTS) for part in path.parts]
    return ["bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "tmp", "usr", *needed]
