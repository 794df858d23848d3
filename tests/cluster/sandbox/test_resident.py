from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from cluster.sandbox import ProcessSandbox
from runtime.capabilities.port import Grants
from runtime.settings import SlotSettings
from tests.cluster.sandbox.drivers import DRIVERS, MakeDriver

pytestmark = pytest.mark.anyio
SMALL = SlotSettings(cpu_s=2, wall_s=30, memory_mib=256, file_mib=1, processes=16)
NAP = str(10_000 + os.getpid())
"""Seconds that a program sleeps; as long as no other that this machine tests at the same time."""


@pytest.fixture(params=DRIVERS)
async def slot(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ProcessSandbox]:
    make: MakeDriver = request.param
    driver = make(SMALL)
    sandbox = await driver.open(tmp_path / "slots" / "one")
    assert isinstance(sandbox, ProcessSandbox)
    yield sandbox
    await driver.close(sandbox)
    assert not sandbox.folder.exists()


async def test_a_resident_answers_as_long_as_it_is_asked(slot: ProcessSandbox) -> None:
    cat = await slot.start(["cat"])

    for word in (b"one\n", b"two\n"):
        cat.stdin.write(word)
        assert await cat.stdout.readline() == word
    cat.stdin.close()
    ended = await cat.wait()

    assert (ended.exit_code, ended.killed_for, ended.stdout) == (0, None, "")


async def test_what_it_wrote_before_its_end_is_all_there(slot: ProcessSandbox) -> None:
    talker = await slot.start(["head", "-c", "300000", "/dev/zero"])

    read = await talker.stdout.read()
    ended = await talker.wait()

    assert (len(read), ended.exit_code) == (300_000, 0)


async def test_it_ends_though_nobody_reads_it(slot: ProcessSandbox) -> None:
    talker = await slot.start(["sh", "-c", "head -c 30000 /dev/zero; exit 3"])

    assert (await talker.wait()).exit_code == 3
    assert len(await talker.stdout.read()) == 30_000


async def test_a_stopped_resident_takes_its_children_along(slot: ProcessSandbox) -> None:
    shell = await slot.start(["sh", "-c", f"setsid sleep {NAP} & echo started; exec sleep {NAP}"])
    await shell.stdout.readline()

    ended = await shell.stop()

    assert (ended.exit_code, ended.killed_for) == (None, "stopped")
    assert _sleepers() == []
    assert await shell.stop() == ended


@pytest.mark.parametrize("make", DRIVERS)
async def test_a_closed_slot_ends_its_residents(make: MakeDriver, tmp_path: Path) -> None:
    driver = make(SMALL)
    sandbox = await driver.open(tmp_path / "slots" / "one")
    shell = await sandbox.start(["sh", "-c", f"echo started; exec sleep {NAP}"])
    await shell.stdout.readline()

    await driver.close(sandbox)

    assert (await shell.wait()).killed_for == "stopped"
    assert _sleepers() == []


async def test_a_program_that_is_not_there_is_told_by_its_exit_code(slot: ProcessSandbox) -> None:
    ended = await (await slot.start(["no-such-program"])).wait()

    assert (ended.exit_code, ended.killed_for) == (127, None)
    assert "no-such-program: No such file" in ended.stderr


async def test_a_resident_that_runs_too_long_ends_for_wall_time(slot: ProcessSandbox) -> None:
    ended = await (await slot.start(["sleep", NAP], wall_s=0.3)).wait()

    assert ended.killed_for == "wall_time"


async def test_a_resident_has_the_limits_of_the_slot(slot: ProcessSandbox) -> None:
    ended = await (await slot.start(["sh", "-c", "head -c 5000000 /dev/zero > big"])).wait()

    assert ended.exit_code != 0
    assert (slot.folder / "big").stat().st_size <= 1_024 * 1_024


async def test_a_grant_lifts_the_limit_it_names_and_no_other(slot: ProcessSandbox) -> None:
    shell = await slot.start(["sh", "-c", "ulimit -n; ulimit -v"], grants=Grants(open_files=300, reserves_memory=True))

    assert (await shell.stdout.read()).split() == [b"300", b"unlimited"]


async def test_its_variables_are_those_of_the_slot_and_those_it_is_given(
    slot: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    shell = await slot.start(["sh", "-c", 'echo "$HOME,$EXTRA,$OPENAI_API_KEY"; pwd'], environment={"EXTRA": "yes"})

    assert (await shell.stdout.read()).decode().split() == [f"{slot.folder},yes,", str(slot.folder)]


async def test_other_descriptors_come_from_a_shell(slot: ProcessSandbox) -> None:
    shell = await slot.start(["sh", "-c", "exec 3<&0 4>&1 >&2; read word <&3; echo got $word >&4"])
    shell.stdin.write(b"this\n")

    assert await shell.stdout.read() == b"got this\n"


async def test_waiting_may_be_given_up(slot: ProcessSandbox) -> None:
    cat = await slot.start(["cat"])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await cat.wait()

    cat.stdin.write(b"still here\n")
    assert await cat.stdout.readline() == b"still here\n"


def _sleepers() -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["cmdline"] == ["sleep", NAP]
        and process.info["status"] != psutil.STATUS_ZOMBIE
        and process.ppid() != os.getpid()
    ]


async def test_an_exit_code_that_no_signal_has_is_told_as_it_is(slot: ProcessSandbox) -> None:
    ended = await (await slot.start(["sh", "-c", "exit 255"])).wait()

    assert (ended.exit_code, ended.killed_for) == (255, None)
