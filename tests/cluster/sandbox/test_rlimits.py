from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from cluster.sandbox import RlimitsDriver
from cluster.sandbox.cgroups import parents
from cluster.sandbox.processes import MARK, kill_strays_of
from runtime.settings import SlotSettings

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
SMALL = SlotSettings(memory_mib=256)


def test_the_driver_says_what_it_cannot_hold() -> None:
    missing = RlimitsDriver(SMALL).cannot_enforce

    assert "network" in missing
    assert "reading outside the folder" in missing
    assert ("processes" in missing) == (os.geteuid() == 0 and parents() is None)


def test_the_driver_says_how_scripts_would_get_a_user_of_their_own() -> None:
    assert "Scripts run as" in RlimitsDriver(SMALL).how_to_mend


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/usr/bin/python3").exists(), reason="needs root and a shared Python")
async def test_with_roots_rights_a_script_runs_as_nobody_we_know(tmp_path: Path) -> None:
    driver = RlimitsDriver(SMALL, interpreter="/usr/bin/python3", uid=2_000_000_123)
    if "own user" in driver.cannot_enforce:
        pytest.skip("the source folder is not readable for others")
    os.chmod(tmp_path, 0o755)  # noqa: PTH101
    sandbox = await driver.open(tmp_path / "slot")

    ended = await sandbox.run_python("import os; open('a', 'w').close(); result = [os.getuid(), os.getgroups()]")
    await driver.close(sandbox)

    assert json.loads(ended.answer)["result"] == [2_000_000_123, []]


async def test_a_script_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    program = f"""
import asyncio, pathlib
from cluster.sandbox import RlimitsDriver
from runtime.settings import SlotSettings

async def main():
    slot = await RlimitsDriver(SlotSettings()).open(pathlib.Path({str(tmp_path / "slot-1")!r}))
    await slot.run_python("import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(600)")

asyncio.run(main())
"""
    started = await asyncio.create_subprocess_exec(sys.executable, "-c", program, cwd=ROOT)
    async with asyncio.timeout(20):
        script = psutil.Process(int(await asyncio.to_thread(told.read_text)))
    started.kill()
    await started.wait()

    script.wait(timeout=60)


def test_what_a_killed_process_left_running_in_a_slot_is_ended_with_the_next_order(tmp_path: Path) -> None:
    def sleeper(folder: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["/bin/sleep", "60"], env={MARK: "x", "HOME": str(tmp_path / folder)})

    with sleeper("slot-1") as left, sleeper("slot2-1") as other:
        killed = kill_strays_of(tmp_path / "slot")

        assert left.wait(60) is not None
        assert (killed, other.poll()) == (1, None)
        other.kill()
