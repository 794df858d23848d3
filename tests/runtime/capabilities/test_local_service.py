from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from runtime.capabilities.connections import HttpConnection, Service, read_connection
from runtime.capabilities.http import HttpOperation, http_capabilities
from runtime.capabilities.local_service import LocalService
from runtime.capabilities.secrets import Secrets
from runtime.errors import InvalidArguments, NetworkFault
from runtime.settings import HttpSettings
from tests.fakes.calls import a_call

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parents[3] / "examples" / "three_airports"
WAIVER = {"day": "2013-02-08", "airports": ["JFK"], "flights": 3, "reason": "weather"}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[LocalService]:
    service = LocalService("desk", Service(command=("python", "desk/service.py")), home=tmp_path, folder=EXAMPLE)
    yield service
    await asyncio.to_thread(service.stop)


def pid_of(home: Path) -> int:
    pid: int = json.loads((home / "services" / "desk.json").read_text())["pid"]
    return pid


@pytest.fixture
async def waive(desk: LocalService) -> AsyncIterator[HttpOperation]:
    waive = {"method": "POST", "path": "/waivers", "effect": "irreversible", "lookup": "/effects/{key}"}
    connection = read_connection(
        {"kind": "http", "service": {"command": ["python", "desk/service.py"]}, "operations": {"waive": waive}}
    )
    assert isinstance(connection, HttpConnection)
    service, (operation,) = http_capabilities(
        "desk", connection, settings=HttpSettings(), secrets=Secrets({}), locate=desk.locate
    )
    yield operation
    await service.close()


async def test_the_service_is_started_when_it_is_first_called(waive: HttpOperation) -> None:
    result = await waive.call(WAIVER, a_call())

    assert result.output["id"] == "waiver-1"


async def test_the_same_key_has_its_effect_once_also_after_kill_9(waive: HttpOperation, tmp_path: Path) -> None:
    context = a_call()
    first = await waive.call(WAIVER, context)
    killed = psutil.Process(pid_of(tmp_path))
    killed.kill()
    psutil.wait_procs([killed], timeout=5)

    again = await waive.call(WAIVER, context)

    assert again.output == first.output
    assert again.evidence[0].facts["replayed"] is True
    found = await waive.lookup(context.key, context)
    assert found is not None
    assert found.output == first.output


async def test_what_never_happened_is_not_found(waive: HttpOperation) -> None:
    assert await waive.lookup("order/none:act", a_call()) is None


async def test_arguments_that_do_not_fit_are_told_in_the_words_of_the_service(waive: HttpOperation) -> None:
    with pytest.raises(InvalidArguments, match="reason is missing; airports must be one of EWR, JFK, LGA"):
        await waive.call({"day": "2013-02-08", "airports": ["BOS"], "flights": 3}, a_call())


def test_whoever_starts_at_the_same_time_gets_the_same_service(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from runtime.capabilities.connections import Service\n"
        "from runtime.capabilities.local_service import LocalService\n"
        "print(LocalService('desk', Service(command=('python', 'desk/service.py')),"
        " home=Path(sys.argv[1]), folder=Path(sys.argv[2])).ensure().base)"
    )

    def start(_: int) -> str:
        command = [sys.executable, "-c", script, str(tmp_path), str(EXAMPLE)]
        return subprocess.run(command, cwd=EXAMPLE.parents[1], check=True, capture_output=True, text=True).stdout

    with ThreadPoolExecutor(3) as pool:
        addresses = set(pool.map(start, range(3)))
    LocalService("desk", Service(command=("python", "desk/service.py")), home=tmp_path, folder=EXAMPLE).stop()

    assert len(addresses) == 1


async def test_the_service_gets_no_secret_of_ours(
    desk: LocalService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    await desk.locate()

    environment = psutil.Process(pid_of(tmp_path)).environ()
    assert "sk-secret" not in environment.values()
    assert (tmp_path / "services" / "desk.json").stat().st_mode & 0o077 == 0


async def test_a_state_of_a_process_that_is_gone_is_no_service(desk: LocalService, tmp_path: Path) -> None:
    state: dict[str, Any] = {"address": "http://127.0.0.1:9", "pid": 2**22 - 1, "token": "t", "command": ["gone"]}
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "desk.json").write_text(json.dumps(state))

    assert (await desk.locate()).base != state["address"]


async def test_a_service_that_does_not_start_names_its_log(tmp_path: Path) -> None:
    service = LocalService(
        "broken", Service(command=("python", "-c", "raise SystemExit('no')")), home=tmp_path, folder=EXAMPLE
    )

    with pytest.raises(NetworkFault, match=r"did not start .*broken\.log"):
        await service.locate()
