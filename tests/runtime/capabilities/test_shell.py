from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from cluster.sandbox import driver_for
from runtime.capabilities.port import SandboxResult
from runtime.capabilities.shell import Shell
from runtime.errors import BusinessRefusal, CapabilityFailed, CapabilityTimeout, InvalidArguments
from runtime.settings import SlotSettings
from tests.fakes.calls import a_call
from tests.fakes.slot_folder import SlotFolder

pytestmark = pytest.mark.anyio


async def run(
    tmp_path: Path, code: Any = 0, arguments: dict[str, Any] | None = None, **ended: Any
) -> tuple[Any, dict[str, Any]]:
    """Return what the call gave and what the slot was asked to run."""
    facts = {"exit_code": 0, "stdout": "", "stderr": "", "killed_for": None, "seconds": 1.0, **ended}
    slot = SlotFolder(tmp_path, SandboxResult(**facts, answer=json.dumps({"state": "done", "result": code}).encode()))
    called = await Shell(SlotSettings()).call(
        {"expect": [0], **(arguments or {"command": "sort rates.csv"})}, a_call(sandbox=slot)
    )
    return called, json.loads(slot.stdin)


async def test_a_line_is_given_to_a_shell_and_its_output_comes_back_with_evidence(tmp_path: Path) -> None:
    called, asked = await run(tmp_path, stdout="a\nb\n", stderr="two lines\n")

    assert asked["argv"] == ["/bin/sh", "-c", "sort rates.csv"]
    assert called.output == {"exit_code": 0, "stdout": "a\nb\n", "stderr": "two lines\n"}
    shown = called.evidence[0].facts
    assert (shown["command"], shown["exit_code"], shown["stdout"]) == ("`sort rates.csv`", 0, "a\nb\n")


async def test_a_program_gets_its_arguments_as_they_are(tmp_path: Path) -> None:
    _, asked = await run(tmp_path, arguments={"argv": ["echo", "$HOME; rm -rf *", 3], "stdin": "x"})

    assert (asked["argv"], asked["stdin"]) == (["echo", "$HOME; rm -rf *", "3"], "x")


async def test_other_arguments_are_variables_of_the_command(tmp_path: Path) -> None:
    _, asked = await run(tmp_path, arguments={"command": 'echo "$day"', "day": "2013-02-08", "rows": [{"n": 1}]})

    assert asked["variables"] == {"day": "2013-02-08", "rows": '[{"n":1}]'}


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "a-b", "1a"])
async def test_a_variable_that_decides_what_runs_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArguments, match="cannot be a variable"):
        await run(tmp_path, arguments={"command": "true", name: "x"})


@pytest.mark.parametrize("arguments", [{}, {"command": "true", "argv": ["true"]}, {"argv": []}, {"argv": [["true"]]}])
async def test_one_way_to_say_what_runs_is_due(tmp_path: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        await run(tmp_path, arguments={"stdin": "", **arguments})


async def test_an_exit_code_that_is_not_expected_is_a_refusal_with_the_last_line_said(tmp_path: Path) -> None:
    with pytest.raises(BusinessRefusal, match=r"`sort rates\.csv` ended with exit code 2: no such file$") as raised:
        await run(tmp_path, 2, stderr="sort:\nno such file\n")

    assert raised.value.facts["exit_code"] == 2


async def test_an_exit_code_that_is_expected_is_a_result(tmp_path: Path) -> None:
    called, _ = await run(tmp_path, 1, arguments={"command": "grep x rates.csv", "expect": [0, 1]})

    assert called.output["exit_code"] == 1


async def test_a_command_that_was_ended_says_by_what(tmp_path: Path) -> None:
    with pytest.raises(BusinessRefusal, match="was ended by signal 11"):
        await run(tmp_path, -11)
    with pytest.raises(CapabilityTimeout, match="computing time"):
        await run(tmp_path, -24)
    with pytest.raises(CapabilityFailed, match="printed more than is kept"):
        await run(tmp_path, exit_code=None, killed_for="output")


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments, match="`nope` cannot be run: No such file or directory: nope"):
        await run(tmp_path, "No such file or directory: nope", arguments={"argv": ["nope"]})


async def in_a_slot(tmp_path: Path, **arguments: Any) -> Any:
    """Run a command in the strongest sandbox of this machine."""
    driver = driver_for(SlotSettings(wall_s=60))(94)
    sandbox = await driver.open(tmp_path / "slot")
    try:
        return await Shell(SlotSettings()).call({"expect": [0], **arguments}, a_call(sandbox=sandbox))
    finally:
        await driver.close(sandbox)


async def test_a_command_really_runs_in_its_folder_with_its_variables_and_input(tmp_path: Path) -> None:
    line = 'pwd; cat > got; sort -u got; echo "$note" >&2; exit 3'

    called = await in_a_slot(tmp_path, command=line, stdin="b\na\nb\n", note="$(id) 暴风雪", expect=[3])

    assert called.output == {"exit_code": 3, "stdout": f"{tmp_path}/slot\na\nb\n", "stderr": "$(id) 暴风雪\n"}


async def test_what_a_command_left_running_is_ended_with_it(tmp_path: Path) -> None:
    nap = str(1_234_567 + os.getpid())
    called = await in_a_slot(tmp_path, command=f"sleep {nap} & echo started")

    assert called.output["stdout"] == "started\n"
    assert not any(
        nap in process.info["cmdline"] for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"]
    )
