"""Both engines give the same events and the same products, whatever becomes of an execution."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, suppress
from typing import Any

import psutil
import pytest

from console.application import SiliconApplication
from console.resources import Resources
from contracts import OrderState
from runtime.settings.load import load
from tests.crash.office import Office, faults, ignore
from tests.crash.person import ask_desk
from tests.engines import telling_office
from tests.engines.alike import differences
from tests.engines.house import pid_of
from tests.engines.mill import make_mill
from tests.engines.scenes import SCENES, Mill, play
from tests.engines.telling_office import forget_writers, writers

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]
ENGINES = ("inline", "ray")


class TellingHosts(Resources):
    """The resources of a process whose hosts tell who writes."""

    office = f"{telling_office.__name__}:open_office"


@pytest.fixture(scope="module")
async def mills(
    tmp_path_factory: pytest.TempPathFactory, module_desk: int, ray_cluster: Any
) -> AsyncIterator[tuple[Mill, Mill]]:
    """The mill under both engines, each with a ledger of its own; the hosts serve all scenes."""
    folder = make_mill(tmp_path_factory.mktemp("mill") / "mill", module_desk)
    async with AsyncExitStack() as used:
        both = []
        for engine in ENGINES:
            home = tmp_path_factory.mktemp(engine)
            settings = {"home": str(home), "workforce.engine": engine, "slot.count": 4, "engine.settle_s": 0.0}
            resources = TellingHosts(load({**settings, "ledger.synchronous": "NORMAL"}))
            used.push_async_callback(resources.close)
            both.append(Mill(resources, SiliconApplication(resources), home, folder, module_desk))
        yield both[0], both[1]


@pytest.mark.parametrize("name", SCENES)
async def test_both_engines_tell_the_same(mills: tuple[Mill, Mill], name: str) -> None:
    scene = SCENES[name]
    inline, on_ray = [await play(scene, mill) for mill in mills]

    for seen in (inline, on_ray):
        error = seen.outcome.error
        assert seen.outcome.state is scene.state, error
        assert scene.code is None or (error is not None and error.code == scene.code), error
        assert scene.output is None or seen.outcome.output == scene.output
        assert tuple(path for path in seen.calls if path.startswith(("/payments", "/letters"))) == scene.calls
    for one, other in zip(inline.events, on_ray.events, strict=True):
        found = differences(one, other, shares=not scene.branches)
        assert found == [], "\n".join(found)
    assert on_ray.outcome.output == inline.outcome.output
    assert (on_ray.products, on_ray.calls) == (inline.products, inline.calls)


async def test_they_sit_in_several_hosts_and_the_hermit_alone(mills: tuple[Mill, Mill]) -> None:
    forget_writers(mills[1].home)
    await play(SCENES["a board that hosts write at once"], mills[1])

    told = writers(mills[1].home)

    assert not told["head-of-desk"] & told["clerk"], "they wrote the board from one process"
    (alone,) = told.pop("hermit")
    assert all(alone not in processes for processes in told.values())
    assert os.getpid() not in set().union(*told.values())


def names_of(processes: Iterable[psutil.Process]) -> set[str]:
    """Return the names of the processes that live: what the program started is called `sleep`, a warm slot is not."""
    names = set()
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            names.add(process.name())
    return names


async def test_a_cancel_in_the_middle_reaches_everybody_below(mills: tuple[Mill, Mill]) -> None:
    mill = mills[1]
    ask_desk(mill.desk, "/begin", {})
    office = Office(mill.home, mill.folder, mill.desk)
    execution_id = (await office.begin(mill.application)).execution_id
    running = asyncio.ensure_future(mill.application.resume(execution_id, watch=ignore))
    await office.until_the_program_runs()
    async with asyncio.timeout(60):
        while "sleep" not in names_of(office.programs()):  # noqa: ASYNC110 - it says that it runs before it sleeps
            await asyncio.sleep(0.05)

    await mill.application.cancel(execution_id, by="ann")
    outcome = await running

    events = [event async for event in mill.application.events(execution_id, after=0, follow=False)]
    ended = [event.data["report"]["state"] for event in events if event.type == "order.finished" and event.data]
    assert outcome.state is OrderState.CANCELLED
    async with asyncio.timeout(60):
        while "sleep" in names_of(office.programs()):  # noqa: ASYNC110 - on another node it ends a moment later
            await asyncio.sleep(0.05)
    assert office.paid() == ["/payments", "/payments", "/payments/back", "/payments/back"]
    assert sorted(ended) == ["cancelled"] * 3 + ["done"] * 2


async def test_a_host_killed_in_the_middle_of_a_payment_changes_nothing(mills: tuple[Mill, Mill]) -> None:
    scene = SCENES["a question, a card and its effects once"]
    inline = await play(scene, mills[0])
    hosts = (await mills[1].resources.organisations()).hosts
    assert hosts is not None
    paying = asyncio.ensure_future(play(scene, mills[1], holding="/payments"))
    await asyncio.to_thread(ask_desk, mills[1].desk, "/await/payments")

    os.kill(pid_of((await hosts.ready())[0]), signal.SIGKILL)
    ask_desk(mills[1].desk, "/hold", {"path": ""})
    on_ray = await paying

    assert (on_ray.outcome.state, on_ray.outcome.output) == (inline.outcome.state, inline.outcome.output)
    assert (on_ray.products, on_ray.calls) == (inline.products, inline.calls)


async def test_nothing_of_that_is_faulty(mills: tuple[Mill, Mill]) -> None:
    assert [await faults(mill.application) for mill in mills] == [(), ()]
