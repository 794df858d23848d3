from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
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

COMMAND = ("python", "desk/service.py")
EXAMPLE = Path(__file__).parents[3] / "examples" / "three_airports"
WAIVER = {"day": "2013-02-08", "airports": ["JFK"], "flights": 3, "reason": "weather"}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[LocalService]:
    service = LocalService("desk", Service(command=("python", "desk/service.py")), home=tmp_path, folder=EXAMPLE)
    yield service
    await asyncio.to_thread(service.stop)


def state_of(home: Path) -> Path:
    """The file that says where the only service of this home runs."""
    (state,) = (home / "services").glob("desk-*/state.json")
    return state


def pid_of(home: Path) -> int:
    pid: int = json.loads(state_of(home).read_text())["pid"]
    return pid


def runs(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@asynccontextmanager
async def waiving(desk: LocalService) -> AsyncIterator[HttpOperation]:
    waive = {"method": "POST", "path": "/waivers", "effect": "irreversible", "lookup": "/effects/{key}"}
    connection = read_connection(
        {"kind": "http", "service": {"command": list(COMMAND)}, "operations": {"waive": waive}}
    )  # fmt: skip
    assert isinstance(connection, HttpConnection)
    service, (operation,) = http_capabilities(
        "desk", connection, settings=HttpSettings(), secrets=Secrets({}), local=desk
    )
    yield operation
    await service.close()


@pytest.fixture
async def waive(desk: LocalService) -> AsyncIterator[HttpOperation]:
    async with waiving(desk) as operation:
        yield operation


async def test_the_service_is_started_when_it_is_first_called(waive: HttpOperation) -> None:
    result = await waive.call(WAIVER, a_call())

    assert result.output["id"] == "waiver-1"


async def test_each_home_has_a_service_of_its_own_with_a_name_of_its_own(desk: LocalService, tmp_path: Path) -> None:
    def another(home: Path) -> str:
        return LocalService("desk", Service(command=COMMAND), home=home, folder=EXAMPLE).instance()

    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(another, [tmp_path] * 16))

    assert names == {desk.instance()}
    assert another(tmp_path / "elsewhere") not in names


async def test_the_same_key_has_its_effect_once_also_after_kill_9(waive: HttpOperation, tmp_path: Path) -> None:
    context = a_call()
    first = await waive.call(WAIVER, context)
    killed = psutil.Process(pid_of(tmp_path))
    killed.kill()
    psutil.wait_procs([killed], timeout=60)

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
    assert state_of(tmp_path).stat().st_mode & 0o077 == 0


async def test_a_state_of_a_process_that_is_gone_is_no_service(desk: LocalService, tmp_path: Path) -> None:
    first = await desk.locate()
    state: dict[str, Any] = json.loads(state_of(tmp_path).read_text())
    await asyncio.to_thread(desk.stop)
    state_of(tmp_path).write_text(json.dumps({**state, "pid": 2**22 - 1}))

    assert (await desk.locate()).token != first.token


async def test_a_state_that_another_version_wrote_is_no_service(desk: LocalService, tmp_path: Path) -> None:
    await desk.locate()
    await asyncio.to_thread(desk.stop)
    state_of(tmp_path).write_text(json.dumps({"address": "http://127.0.0.1:9", "pid": 1, "token": "t"}))

    assert (await desk.locate()).base != "http://127.0.0.1:9"


async def test_a_service_that_does_not_start_says_why_in_the_error(tmp_path: Path) -> None:
    service = LocalService(
        "broken", Service(command=("python", "-c", "raise SystemExit('no money')")), home=tmp_path, folder=EXAMPLE
    )

    with pytest.raises(NetworkFault, match=r"did not start .*no money.*broken-\w+/service\.log"):
        await service.locate()


async def test_a_service_without_an_address_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.capabilities.local_service._START_S", 1.0)
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    service = LocalService("mute", Service(command=("python", "-c", code)), home=tmp_path, folder=EXAMPLE)

    with pytest.raises(NetworkFault) as caught:
        await service.locate()

    assert not runs(int(str(caught.value.facts["said"])))


@pytest.fixture
async def two_shops(tmp_path: Path) -> AsyncIterator[tuple[LocalService, LocalService]]:
    """Two organisations in one home, each with a connection `desk` and the same command."""
    made = []
    for name in ("bakery", "florist"):
        (tmp_path / name / "desk").mkdir(parents=True)
        shutil.copy(EXAMPLE / "desk" / "service.py", tmp_path / name / "desk")
        made.append(
            LocalService("desk", Service(command=COMMAND), home=tmp_path / "home", folder=tmp_path / name)
        )  # fmt: skip
    yield made[0], made[1]
    for service in made:
        await asyncio.to_thread(service.stop)


async def test_each_organisation_of_a_home_has_its_effects_at_its_own_service(
    two_shops: tuple[LocalService, LocalService],
) -> None:
    bakery, florist = two_shops
    async with waiving(bakery) as waive_bread, waiving(florist) as waive_flowers:
        await waive_bread.call(WAIVER, a_call())
        context = a_call()
        await waive_flowers.call({**WAIVER, "reason": "wilted"}, context)

        assert (await bakery.locate()).base != (await florist.locate()).base
        assert await waive_bread.lookup(context.key, context) is None
        assert await waive_flowers.lookup(context.key, context) is not None


async def test_an_edited_program_replaces_the_old_process_and_keeps_its_data(
    two_shops: tuple[LocalService, LocalService], tmp_path: Path
) -> None:
    bakery, _ = two_shops
    context = a_call()
    async with waiving(bakery) as waive:
        first = await waive.call(WAIVER, context)
        old = pid_of(tmp_path / "home")
        program = tmp_path / "bakery" / "desk" / "service.py"
        program.write_text(program.read_text().replace(" is missing", " is wanted"))

        with pytest.raises(InvalidArguments, match="reason is wanted"):
            await waive.call({name: value for name, value in WAIVER.items() if name != "reason"}, a_call())
        found = await waive.lookup(context.key, context)

    assert found is not None and found.output == first.output
    assert not runs(old)


async def test_a_process_whose_folder_was_moved_away_does_not_serve_the_new_one(
    two_shops: tuple[LocalService, LocalService], tmp_path: Path
) -> None:
    bakery, _ = two_shops
    first = await bakery.locate()
    (tmp_path / "bakery").rename(tmp_path / "sold")
    shutil.copytree(tmp_path / "sold", tmp_path / "bakery")

    assert (await bakery.locate()).token != first.token
    assert psutil.Process(pid_of(tmp_path / "home")).cwd() == str(tmp_path / "bakery")


async def test_a_program_that_did_not_change_goes_on(two_shops: tuple[LocalService, LocalService]) -> None:
    bakery, _ = two_shops

    assert await bakery.locate() == await bakery.locate()
