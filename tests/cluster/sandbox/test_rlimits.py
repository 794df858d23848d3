from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from cluster.sandbox import RlimitsDriver, RlimitsSandbox
from runtime.capabilities.port import SandboxResult
from runtime.settings import SlotSettings

pytestmark = pytest.mark.anyio

SMALL = SlotSettings(cpu_s=1, wall_s=30, memory_mib=256, file_mib=1, output_kib=64, result_kib=1_024, processes=16)


@pytest.fixture
async def slot(tmp_path: Path) -> AsyncIterator[RlimitsSandbox]:
    driver = RlimitsDriver(SMALL)
    sandbox = await driver.open(tmp_path / "slots" / "one")
    yield sandbox
    await driver.close(sandbox)
    assert not sandbox.folder.exists()


def answer(ended: SandboxResult) -> dict[str, object]:
    told: dict[str, object] = json.loads(ended.answer)
    return told


async def test_a_script_reads_its_inputs_and_sets_its_result(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("result = {'sum': inputs['a'] + inputs['b']}", stdin=b'{"a": 1, "b": 2}')

    assert answer(ended) == {"state": "done", "result": {"sum": 3}}
    assert (ended.exit_code, ended.killed_for) == (0, None)


async def test_what_a_script_prints_is_kept_apart_from_its_result(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python('print(\'{"state": "done"}\'); result = 1')

    assert ended.stdout == '{"state": "done"}\n'
    assert answer(ended)["result"] == 1


async def test_an_error_tells_its_line_and_the_traceback_goes_to_stderr(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("a = 1\ndef f():\n    return 1 / 0\nf()\n")

    assert answer(ended) == {"state": "raised", "error": "ZeroDivisionError: division by zero", "line": 3}
    assert "Traceback" in ended.stderr


async def test_a_script_that_is_no_python_tells_the_line(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("a = 1\nif:\n")

    assert answer(ended)["line"] == 2


@pytest.mark.parametrize("script", ["result = object()", "result = {1j: 2}", "a = []; a.append(a); result = a"])
async def test_a_result_that_is_no_json_is_told(slot: RlimitsSandbox, script: str) -> None:
    assert answer(await slot.run_python(script))["state"] == "not_json"


async def test_a_script_that_sets_no_result_is_told(slot: RlimitsSandbox) -> None:
    assert answer(await slot.run_python("x = 1"))["state"] == "no_result"


async def test_an_endless_loop_ends_at_the_cpu_limit(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("while True: pass")

    assert ended.killed_for == "cpu_time"


async def test_a_sleeper_that_ignores_requests_ends_at_the_wall_clock(slot: RlimitsSandbox) -> None:
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"

    ended = await slot.run_python(script, wall_s=0.3)

    assert ended.killed_for == "wall_time"
    assert ended.seconds < 10


async def test_a_hundred_megabytes_of_output_end_the_script(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("for _ in range(100): print('x' * 1_000_000)\nresult = 1")

    assert ended.killed_for == "output"
    assert len(ended.stdout) == SMALL.output_kib * 1_024


async def test_a_result_of_fifty_megabytes_is_refused(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("result = 'x' * 50_000_000")

    assert ended.killed_for == "result"
    assert len(ended.answer) == SMALL.result_kib * 1_024


async def test_too_much_memory_is_told_as_such(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("a = bytearray(1_000_000_000)")

    assert ended.killed_for == "memory"


async def test_a_script_killed_from_outside_is_not_said_to_lack_memory(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    assert ended.killed_for == "signal"


async def test_a_script_that_deletes_its_folder_hurts_nobody(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("import os, shutil; shutil.rmtree(os.environ['HOME']); result = 'gone'")
    again = await slot.run_python("open('a', 'w').write('b'); result = 'there'")

    assert answer(ended)["result"] == "gone"
    assert answer(again)["result"] == "there"


async def test_a_script_that_closes_every_channel_gives_no_answer(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("import os; os.closerange(0, 200); result = 1")

    assert ended.answer == b""


async def test_a_script_that_leaves_its_process_gives_no_answer(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("import os; os._exit(0)")

    assert (ended.answer, ended.exit_code) == (b"", 0)


async def test_children_in_a_session_of_their_own_do_not_survive(slot: RlimitsSandbox) -> None:
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)\n"
        "result = child.pid"
    )

    ended = await slot.run_python(script)

    pid = answer(ended)["result"]
    assert isinstance(pid, int)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    assert ended.seconds < 10


async def test_a_cancelled_run_leaves_no_process(slot: RlimitsSandbox) -> None:
    script = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    run = asyncio.create_task(slot.run_python(script))
    text = await _written(slot.folder / "pid")
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert not psutil.pid_exists(int(text))


async def test_no_secret_of_the_environment_reaches_the_script(
    slot: RlimitsSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    ended = await slot.run_python("import os; result = [dict(os.environ), os.getcwd()]")

    environment, folder = answer(ended)["result"]  # type: ignore[misc]
    assert "sk-secret" not in str(environment)
    assert environment["HOME"] == folder == str(slot.folder)


async def test_a_file_larger_than_the_limit_cannot_be_written(slot: RlimitsSandbox) -> None:
    ended = await slot.run_python("open('big', 'wb').write(b'x' * 5_000_000); result = 1")

    assert "File too large" in str(answer(ended)["error"])


async def test_the_loop_goes_on_while_a_script_runs(slot: RlimitsSandbox) -> None:
    run = asyncio.create_task(slot.run_python("import time; time.sleep(0.5); result = 1"))
    longest, last = 0.0, time.monotonic()
    while not run.done():
        await asyncio.sleep(0.005)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()

    assert longest < 0.4


def test_the_driver_says_what_it_cannot_hold() -> None:
    missing = RlimitsDriver(SMALL).cannot_enforce

    assert "network" in missing
    assert ("processes" in missing) == (os.geteuid() == 0)


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/usr/bin/python3").exists(), reason="needs root and a shared Python")
async def test_with_roots_rights_a_script_runs_as_nobody_we_know(tmp_path: Path) -> None:
    driver = RlimitsDriver(SMALL, interpreter="/usr/bin/python3", uid=2_000_000_123)
    if "own user" in driver.cannot_enforce:
        pytest.skip("the source folder is not readable for others")
    os.chmod(tmp_path, 0o755)  # noqa: PTH101
    sandbox = await driver.open(tmp_path / "slot")

    ended = await sandbox.run_python("import os; open('a', 'w').close(); result = [os.getuid(), os.getgroups()]")
    await driver.close(sandbox)

    assert answer(ended)["result"] == [2_000_000_123, []]


async def _written(path: Path) -> str:
    async with asyncio.timeout(5):
        while not (text := _read(path)):  # noqa: ASYNC110  another process writes it
            await asyncio.sleep(0)
    return text


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""
