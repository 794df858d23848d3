"""The driver `docker`, against an engine of ours that speaks its API; see `tests/fakes/docker_engine.py`."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("docker", reason="the extra `docker` is not installed")

from cluster import driver_for
from cluster.errors import SandboxBroken
from cluster.sandbox import docker
from cluster.sandbox.containers import Engine
from cluster.sandbox.docker import DockerDriver, DockerSandbox
from runtime.capabilities.port import Grants, SandboxResult
from runtime.settings import SlotSettings
from tests.fakes.docker_engine import DockerEngine

pytestmark = pytest.mark.anyio
SMALL = SlotSettings(
    docker_image="python:3.11", cpu_s=1, wall_s=20, memory_mib=256, file_mib=1, disk_mib=4, output_kib=64,
    result_kib=64, processes=16,
)  # fmt: skip


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[DockerEngine]:
    with TemporaryDirectory(dir="/tmp") as folder, DockerEngine(Path(folder) / "docker.sock") as engine:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{folder}/docker.sock")
        docker.why_not.cache_clear()
        yield engine


@pytest.fixture
async def slot(engine: DockerEngine, tmp_path: Path) -> AsyncIterator[DockerSandbox]:
    driver = DockerDriver(SMALL, Engine(), uid=os.getuid())  # the containers of this engine are processes of ours
    sandbox = await driver.open(tmp_path / "slot")
    yield sandbox
    await driver.close(sandbox)
    assert (engine.boxes, sandbox.folder.exists()) == ({}, False)


def answer(ended: SandboxResult) -> dict[str, object]:
    told: dict[str, object] = json.loads(ended.answer)
    return told


async def test_a_script_gets_its_inputs_and_its_result_stays_apart_from_what_it_prints(slot: DockerSandbox) -> None:
    script = "import sys; print('seen'); print('told', file=sys.stderr); result = inputs['a'] + 1"

    ended = await slot.run_python(script, stdin=b'{"a": 1}')

    assert answer(ended) == {"state": "done", "result": 2}
    assert (ended.stdout, ended.stderr, ended.exit_code, ended.killed_for) == ("seen\n", "told\n", 0, None)


async def test_files_stay_in_the_folder_and_answers_do_not(slot: DockerSandbox) -> None:
    await slot.run_python("open('kept', 'w').write('b'); result = 1")

    assert [path.name for path in slot.folder.iterdir()] == ["kept"]


async def test_the_engine_is_asked_to_isolate_and_limit(engine: DockerEngine, slot: DockerSandbox) -> None:
    await slot.run_python("result = 1")

    config, host = engine.configs[0], engine.configs[0]["HostConfig"]
    assert (config["Image"], config["User"]) == ("python:3.11", f"{os.getuid()}:{os.getuid()}")
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["CapDrop"]) == ("none", True, ["ALL"])
    assert (host["Memory"], host["MemorySwap"], host["PidsLimit"]) == (256 * 1_024**2, 256 * 1_024**2, 16)
    assert "no-new-privileges" in host["SecurityOpt"]
    assert [bind for bind in host["Binds"] if not bind.endswith(":ro")] == [f"{slot.folder}:{slot.folder}:rw"]


async def test_the_network_comes_by_grant_only(engine: DockerEngine, slot: DockerSandbox) -> None:
    await slot.run_python("result = 1", grants=Grants(network=True))

    assert engine.configs[0]["HostConfig"]["NetworkMode"] == "bridge"


@pytest.mark.parametrize(
    ("script", "limit"),
    [
        ("while True: pass", "cpu_time"),
        ("import time; time.sleep(60)", "wall_time"),
        ("while True: print('x' * 10_000)", "output"),
        ("result = 'x' * 1_000_000", "result"),
        ("a = bytearray(1_000_000_000)", "memory"),
        ("for n in range(100): open(str(n), 'w').write('x' * 1_000_000)", "disk"),
        ("import os; os.kill(os.getpid(), 9)", "signal"),
    ],
)
async def test_each_limit_is_told_by_its_name(slot: DockerSandbox, script: str, limit: str) -> None:
    if limit == "disk":
        script += "\nimport time; time.sleep(60)"
    ended = await slot.run_python(script, wall_s=1 if limit == "wall_time" else 20)

    assert (ended.killed_for, ended.exit_code) == (limit, None)


async def test_a_link_in_the_place_of_the_answer_is_not_followed(slot: DockerSandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the organisation")
    script = f"""
import os
for name in os.listdir():
    os.unlink(name)
    os.symlink({str(tmp_path / "secret")!r}, name)
os._exit(0)
"""
    with pytest.raises(SandboxBroken, match="left no sign"):
        await slot.run_python(script)


async def test_a_resident_answers_as_long_as_it_is_asked_and_tells_how_it_ended(slot: DockerSandbox) -> None:
    shell = await slot.start(["sh", "-c", "cat; echo bye >&2; exit 3"])
    for word in (b"one\n", b"two\n"):
        shell.stdin.write(word)
        assert await shell.stdout.readline() == word
    shell.stdin.write_eof()

    ended = await shell.wait()

    assert (ended.exit_code, ended.killed_for, ended.stderr) == (3, None, "bye\n")
    assert await shell.stdout.read() == b""


async def test_a_stopped_resident_is_gone(engine: DockerEngine, slot: DockerSandbox) -> None:
    shell = await slot.start(["sleep", "60"])

    assert (await shell.stop()).killed_for == "stopped"
    assert engine.boxes == {}


async def test_containers_that_a_killed_process_left_are_removed_with_the_next_order(
    engine: DockerEngine, tmp_path: Path
) -> None:
    driver = DockerDriver(SMALL, Engine(), uid=os.getuid())
    left = await driver.open(tmp_path / "slot-1")
    shell = await left.start(["sleep", "60"])

    await driver.close(await driver.open(tmp_path / "slot-2"))

    assert engine.boxes == {}
    await shell.wait()


def test_it_is_used_when_the_settings_name_it_and_the_image_is_there(engine: DockerEngine) -> None:
    named = SlotSettings.model_validate({"driver": "docker", "docker_image": "python:3.11"})

    assert driver_for(named)(0).name == "docker"


@pytest.mark.parametrize(("image", "why"), [("", "names no image"), ("python:2", "docker pull python:2")])
def test_an_image_that_is_not_there_is_told(engine: DockerEngine, image: str, why: str) -> None:
    with pytest.raises(SandboxBroken, match=why):
        driver_for(SlotSettings.model_validate({"driver": "docker", "docker_image": image}))


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the SDK forgets the socket of a failed connection
def test_an_engine_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    docker.why_not.cache_clear()

    with pytest.raises(SandboxBroken, match="See that it runs"):
        driver_for(SlotSettings.model_validate({"driver": "docker", "docker_image": "python:3.11"}))
    gc.collect()
