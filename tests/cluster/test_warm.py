"""Slots made ready: what waits in them is for the next order, and for that one alone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cluster import Closed, ControlPlane, Node, RlimitsDriver
from cluster.control_plane import Closer
from cluster.sandbox.slot_sandbox import ProcessSandbox
from cluster.slot import HeldSlot
from cluster.warm import WarmSlots
from contracts import NodeId, OrderState
from runtime.settings import SlotSettings
from tests.cluster.conftest import Rig
from tests.fakes.orders import an_order
from tests.fakes.slot_users import RLIMITS
from tests.fakes.step_engine import Engines

pytestmark = pytest.mark.anyio
ONE = SlotSettings(count=1)


@pytest.fixture
async def plane(rig: Rig) -> ControlPlane:
    plane = rig.plane(ONE)
    await plane.beat(for_all=True, pulled_at=rig.clock.now())
    return plane


@pytest.fixture
async def warm(plane: ControlPlane, tmp_path: Path) -> AsyncIterator[WarmSlots]:
    driver = RlimitsDriver.for_slot(ONE, RLIMITS)
    warm = WarmSlots(plane, lambda index: driver, tmp_path / "slots", count=2, every_s=60)
    yield warm
    await warm.close()
    assert list((tmp_path / "slots").iterdir()) == []


async def held(plane: ControlPlane) -> HeldSlot:
    """Return the slot as the next order holds it."""
    held = await plane.take(an_order())
    assert held is not None
    return held


async def pid_in(sandbox: ProcessSandbox) -> int:
    ended = await sandbox.run_python("import os; result = os.getpid()")
    return int(json.loads(ended.answer)["result"])


def waiting_in(folder: Path) -> list[int]:
    """Return the processes whose home is a folder below."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"HOME={folder}/".encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


async def the_one_waiting_in(folder: Path) -> int:
    """Return the one process whose home is a folder below; one that is just being started has no environment yet."""
    for _ in range(2_000):
        if len(found := waiting_in(folder)) == 1:
            return found[0]
        await asyncio.sleep(0.01)
    raise AssertionError(f"{found} wait")


async def test_the_next_order_gets_the_interpreter_that_waits_and_no_script_gets_it_twice(
    plane: ControlPlane, warm: WarmSlots, tmp_path: Path
) -> None:
    await warm.refresh()
    waiting = await the_one_waiting_in(tmp_path)
    sandbox = await warm.take(await held(plane))
    assert sandbox is not None

    assert await pid_in(sandbox) == waiting
    assert await pid_in(sandbox) != waiting
    assert not sandbox.warm
    await RlimitsDriver(ONE).close(sandbox)


async def test_what_waits_is_thrown_away_when_somebody_had_the_slot_in_between(
    plane: ControlPlane, warm: WarmSlots, tmp_path: Path
) -> None:
    await warm.refresh()
    await plane.release(await held(plane))

    assert await warm.take(await held(plane)) is None
    assert waiting_in(tmp_path) == []
    assert list((tmp_path / "slots").iterdir()) == []


async def test_an_interpreter_that_was_killed_is_given_to_nobody_and_another_takes_its_place(
    plane: ControlPlane, warm: WarmSlots, tmp_path: Path
) -> None:
    await warm.refresh()
    killed = await the_one_waiting_in(tmp_path)
    os.kill(killed, signal.SIGKILL)
    (sandbox,) = (ready.sandbox for ready in warm._ready.values())
    await sandbox._waiting.begun.process.wait()  # type: ignore[union-attr]
    await warm.refresh()
    other = await the_one_waiting_in(tmp_path)

    assert other != killed
    assert (await plane.nodes())[0].warm == {0}


async def test_a_node_that_is_closed_gives_up_what_it_kept_ready(
    plane: ControlPlane, warm: WarmSlots, tmp_path: Path
) -> None:
    await warm.refresh()
    assert plane.node is not None
    await plane.close(plane.node.node_id, Closed.CORDONED, by=Closer("ann", "cli"))
    await warm.refresh()

    assert waiting_in(tmp_path) == []


async def test_an_order_is_done_in_the_warm_slot_and_its_slot_is_empty_afterwards(rig: Rig, tmp_path: Path) -> None:
    plane, engines = rig.plane(ONE), Engines(rig.store)
    bridge = rig.bridge(ONE, plane=plane)
    await bridge._warm.refresh()
    order = an_order()
    slot = await plane.take(order)
    assert slot is not None
    (left := tmp_path / "slots" / f"{slot.allocation.slot_id.ulid}-0").mkdir()
    report = await bridge.run(order, slot, lambda leases, still_held: engines(leases))

    engine = await engines.next_begun()
    assert report.state is OrderState.DONE
    assert engine.folder is not None
    assert "-warm-" in engine.folder.name
    assert list((tmp_path / "slots").iterdir()) == [], f"{left} is of somebody before"


async def test_the_last_slots_are_made_ready_because_others_take_the_first(rig: Rig, tmp_path: Path) -> None:
    node = Node(NodeId.new(), 3)
    plane = rig.plane(node=node)
    warm = WarmSlots(plane, lambda index: RlimitsDriver(ONE), tmp_path / "slots", count=2, every_s=60)
    await plane.beat(for_all=True, pulled_at=rig.clock.now())
    await warm.refresh()
    (standing,) = [each for each in await plane.nodes() if each.node.node_id == node.node_id]
    another = await rig.plane(node=node).take(an_order())
    await warm.close()

    assert standing.warm == {1, 2}
    assert another is not None
    assert another.index == 0
