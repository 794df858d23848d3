from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from cluster.errors import SandboxBroken
from cluster.sandbox import ProcessSandbox, SandboxDriver, paths
from cluster.sandbox.allowance import Allowance
from runtime.capabilities.port import NO_GRANTS, Grants, SandboxResult
from runtime.errors import surely_not
from runtime.settings import SlotSettings
from tests.cluster.sandbox.drivers import DRIVERS

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]

SMALL = SlotSettings(cpu_s=1, wall_s=30, memory_mib=256, file_mib=1, output_kib=64, result_kib=1_024, processes=16)


@pytest.fixture(params=DRIVERS)
async def slot(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ProcessSandbox]:
    driver: SandboxDriver = request.param(SMALL)
    sandbox = await driver.open(tmp_path / "slots" / "one")
    assert isinstance(sandbox, ProcessSandbox)
    yield sandbox
    await driver.close(sandbox)
    assert not sandbox.folder.exists()


def answer(ended: SandboxResult) -> dict[str, object]:
    told: dict[str, object] = json.loads(ended.answer)
    return told


async def test_a_script_reads_its_inputs_and_sets_its_result(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("result = {'sum': inputs['a'] + inputs['b']}", stdin=b'{"a": 1, "b": 2}')

    assert answer(ended) == {"state": "done", "result": {"sum": 3}}
    assert (ended.exit_code, ended.killed_for) == (0, None)


async def test_the_libraries_of_the_interpreter_work(slot: ProcessSandbox) -> None:
    script = """
import ssl, subprocess, tempfile, threading, zoneinfo
import duckdb, numpy
ssl.create_default_context()
zoneinfo.ZoneInfo("Europe/Berlin")
with tempfile.NamedTemporaryFile() as file:
    file.write(b"x")
said = subprocess.run(["sh", "-c", "echo yes | cat"], capture_output=True, text=True).stdout
result = [said, duckdb.sql("select 41 + 1").fetchall()[0][0], int(numpy.arange(3).sum())]
"""
    ended = await slot.run_python(script, grants=Grants(memory_mib=SlotSettings().memory_mib))

    assert answer(ended) == {"state": "done", "result": ["yes\n", 42, 3]}


async def test_a_sandbox_that_does_not_work_is_told_and_nothing_happened(
    slot: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = replace(slot._cell.confinement(Allowance.of(SMALL, NO_GRANTS), NO_GRANTS), folder=Path("/nowhere"))
    monkeypatch.setattr(slot._cell, "confinement", lambda *_: nowhere)

    with pytest.raises(SandboxBroken, match=r"could not be confined: .*/nowhere") as raised:
        await slot.run_python("result = 1")

    assert surely_not(raised.value.facts)


async def test_an_interpreter_that_is_gone_is_told(slot: ProcessSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot._cell, "interpreter", "/nowhere/python")
    monkeypatch.setattr(paths, "_homes", lambda interpreter: ())

    with pytest.raises(SandboxBroken, match="silicon doctor"):
        await slot.run_python("result = 1")


async def test_what_a_script_prints_is_kept_apart_from_its_result(slot: ProcessSandbox) -> None:
    ended = await slot.run_python('print(\'{"state": "done"}\'); result = 1')

    assert ended.stdout == '{"state": "done"}\n'
    assert answer(ended)["result"] == 1


async def test_an_error_tells_its_line_and_the_traceback_goes_to_stderr(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("a = 1\ndef f():\n    return 1 / 0\nf()\n")

    assert answer(ended) == {"state": "raised", "error": "ZeroDivisionError: division by zero", "line": 3}
    assert "Traceback" in ended.stderr


async def test_a_script_that_is_no_python_tells_the_line(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("a = 1\nif:\n")

    assert answer(ended)["line"] == 2


@pytest.mark.parametrize("script", ["result = object()", "result = {1j: 2}", "a = []; a.append(a); result = a"])
async def test_a_result_that_is_no_json_is_told(slot: ProcessSandbox, script: str) -> None:
    assert answer(await slot.run_python(script))["state"] == "not_json"


async def test_a_script_that_sets_no_result_is_told(slot: ProcessSandbox) -> None:
    assert answer(await slot.run_python("x = 1"))["state"] == "no_result"


async def test_an_endless_loop_ends_at_the_cpu_limit(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("while True: pass")

    assert ended.killed_for == "cpu_time"


async def test_a_sleeper_that_ignores_requests_ends_at_the_wall_clock(slot: ProcessSandbox) -> None:
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"

    ended = await slot.run_python(script, wall_s=0.3)

    assert ended.killed_for == "wall_time"
    assert ended.seconds < 50  # not its own sixty


async def test_a_hundred_megabytes_of_output_end_the_script(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("for _ in range(100): print('x' * 1_000_000)\nresult = 1")

    assert ended.killed_for == "output"
    assert len(ended.stdout) == SMALL.output_kib * 1_024


async def test_a_result_of_fifty_megabytes_is_refused(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("result = 'x' * 50_000_000")

    assert ended.killed_for == "result"
    assert len(ended.answer) == SMALL.result_kib * 1_024


async def test_too_much_memory_is_told_as_such(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("a = bytearray(1_000_000_000)")

    assert ended.killed_for == "memory"


async def test_a_script_killed_from_outside_is_not_said_to_lack_memory(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    assert ended.killed_for == "signal"


async def test_a_script_that_deletes_its_folder_hurts_nobody(slot: ProcessSandbox) -> None:
    ended = await slot.run_python(
        "import os, shutil; shutil.rmtree(os.environ['HOME'], ignore_errors=True); result = 'gone'"
    )
    again = await slot.run_python("open('a', 'w').write('b'); result = 'there'")

    assert answer(ended)["result"] == "gone"
    assert answer(again)["result"] == "there"


async def test_a_script_that_closes_every_channel_gives_no_answer(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("import os; os.closerange(0, 200); result = 1")

    assert ended.answer == b""


async def test_a_script_that_leaves_its_process_gives_no_answer(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("import os; os._exit(0)")

    assert (ended.answer, ended.exit_code) == (b"", 0)


async def test_children_in_a_session_of_their_own_do_not_survive(slot: ProcessSandbox) -> None:
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)\n"
        "result = child.pid"
    )

    ended = await slot.run_python(script)

    assert answer(ended)["state"] == "done"
    assert _running_in(slot.folder) == []
    assert ended.seconds < 50  # not its own sixty


async def test_a_cancelled_run_leaves_no_process(slot: ProcessSandbox) -> None:
    script = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    run = asyncio.create_task(slot.run_python(script))
    await _written(slot.folder / "pid")
    assert _running_in(slot.folder) != []
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert _running_in(slot.folder) == []


async def test_no_secret_of_the_environment_reaches_the_script(
    slot: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    ended = await slot.run_python("import os; result = [dict(os.environ), os.getcwd()]")

    environment, folder = answer(ended)["result"]  # type: ignore[misc]
    assert "sk-secret" not in str(environment)
    assert environment["HOME"] == folder == str(slot.folder)


async def test_a_file_larger_than_the_limit_cannot_be_written(slot: ProcessSandbox) -> None:
    ended = await slot.run_python("open('big', 'wb').write(b'x' * 5_000_000); result = 1")

    assert "File too large" in str(answer(ended)["error"])


async def test_the_loop_goes_on_while_a_script_runs(slot: ProcessSandbox) -> None:
    """The script ends by what the loop writes while it runs."""
    wait = "while not os.path.exists('go'): time.sleep(0.01)"
    run = asyncio.create_task(slot.run_python(f"import os, time; open('begun', 'w').write('x')\n{wait}\nresult = 1"))
    await _written(slot.folder / "begun")
    (slot.folder / "go").touch()

    assert answer(await run)["result"] == 1


def _running_in(folder: Path) -> list[psutil.Process]:
    found = psutil.process_iter(["environ", "status"])
    return [
        process
        for process in found
        if (process.info["environ"] or {}).get("HOME") == str(folder) and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


async def _written(path: Path) -> str:
    async with asyncio.timeout(60):
        while not (text := _read(path)):  # noqa: ASYNC110  another process writes it
            await asyncio.sleep(0)
    return text


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""
