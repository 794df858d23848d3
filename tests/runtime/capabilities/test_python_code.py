from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contracts import ErrorCategory
from runtime.capabilities.port import SandboxResult
from runtime.capabilities.python_code import PythonCode
from runtime.errors import BusinessRefusal, CapabilityFailed, CapabilityTimeout, InvalidArguments
from runtime.settings import SlotSettings
from tests.fakes.calls import a_call
from tests.fakes.slot_folder import SlotFolder

pytestmark = pytest.mark.anyio

SCRIPT = {"file": "course.py", "text": "result = 1"}


async def run(tmp_path: Path, answer: Any = None, **ended: Any) -> Any:
    facts = {"exit_code": 0, "stdout": "", "stderr": "", "killed_for": None, "seconds": 1.0, **ended}
    written = b"" if answer is None else json.dumps(answer).encode()
    slot = SlotFolder(tmp_path, SandboxResult(**facts, answer=written))
    return await PythonCode(SlotSettings()).call({"script": SCRIPT, "a": [1]}, a_call(sandbox=slot))


async def test_the_result_comes_back_with_the_hashes_of_script_and_inputs(tmp_path: Path) -> None:
    called = await run(tmp_path, {"state": "done", "result": {"n": 3}}, stdout="hello")

    assert called.output == {"result": {"n": 3}}
    assert called.evidence[0].facts.keys() == {"script", "script_sha256", "inputs_sha256", "seconds", "printed"}


@pytest.mark.parametrize("online", [False, True])
async def test_only_the_capability_of_that_name_gives_a_script_the_network(tmp_path: Path, online: bool) -> None:
    slot = SlotFolder(tmp_path, SandboxResult(0, "", "", None, 0.1, answer=b'{"state": "done", "result": 1}'))

    await PythonCode(SlotSettings(), online=online).call({"script": SCRIPT, "network": True}, a_call(sandbox=slot))

    assert slot.grants.network is online


def test_a_script_with_the_network_needs_an_approval() -> None:
    assert PythonCode(SlotSettings(), online=True).spec.effect.needs_gate
    assert not PythonCode(SlotSettings()).spec.effect.needs_gate


async def test_an_error_names_the_script_and_its_line_and_keeps_the_traceback_aside(tmp_path: Path) -> None:
    answer = {"state": "raised", "error": "KeyError: 'rows'", "line": 7}
    with pytest.raises(CapabilityFailed, match=r"^course\.py failed in line 7: KeyError: 'rows'$") as raised:
        await run(tmp_path, answer, stderr="Traceback …")

    assert raised.value.facts["traceback"] == "Traceback …"


@pytest.mark.parametrize(
    ("killed_for", "error", "words"),
    [
        ("wall_time", CapabilityTimeout, "ran for 1 s without ending"),
        ("cpu_time", CapabilityTimeout, "used up its computing time"),
        ("memory", CapabilityFailed, "needed more memory"),
        ("signal", CapabilityFailed, r"killed by the system \(signal 9\). A frequent cause is memory"),
        ("output", CapabilityFailed, "printed more than is kept"),
        ("result", BusinessRefusal, "larger than a step may hand on"),
    ],
)
async def test_each_limit_has_its_words(
    tmp_path: Path, killed_for: str, error: type[CapabilityFailed], words: str
) -> None:
    with pytest.raises(error, match=words):
        await run(tmp_path, exit_code=None, killed_for=killed_for)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"state": "no_result"}, "without setting `result`"),
        ({"state": "not_json", "error": "TypeError: set"}, "no JSON: TypeError: set"),
        (None, "ended by itself before it was done"),
        ([1], "ended by itself before it was done"),
    ],
)
async def test_a_script_without_a_result_is_told(tmp_path: Path, answer: Any, words: str) -> None:
    with pytest.raises(CapabilityFailed, match=words):
        await run(tmp_path, answer)


async def test_without_a_slot_nothing_runs() -> None:
    with pytest.raises(InvalidArguments, match="step do has none") as raised:
        await PythonCode(SlotSettings()).call({"script": "result = 1"}, a_call())
    assert raised.value.category is ErrorCategory.INVALID_ARGUMENTS
