"""Hosts that die with an order in hand, and hosts that only lose their leases: both go on elsewhere, not as often."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count

import pytest

from agents.workforce.errors import HostLapsed, HostLost, Stopped
from agents.workforce.ray.messages import Address, Stretch, pack_answer
from agents.workforce.ray.post import LAPSES, LOSSES, Apart, Post
from agents.workforce.ray.seating import Seating
from agents.workforce.ray.vigil import LEASES, Vigil
from contracts import OrderState, StatusReport
from runtime.executor.holder import this_process
from runtime.known import Known
from runtime.ledger.port import Lease
from runtime.ledger.store import SqlStore
from tests.agents.employee.staff import FakeNode, FakeStaff
from tests.fakes.orders import an_order
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio
ORDER = an_order(employee="head")
DONE = StatusReport(order_id=ORDER.order_id, state=OrderState.DONE)


@dataclass
class Line:
    """The port `Line`: hosts that are lost one after another, each in its way, and then one that answers."""

    ways: list[Exception]
    called: list[str] = field(default_factory=list)

    async def call(self, actor: str, method: str, message: bytes) -> bytes:
        self.called.append(actor)
        if self.ways:
            way = self.ways.pop(0)
            if isinstance(way, HostLost) and not isinstance(way, HostLapsed):
                raise way
            return pack_answer(way)
        return pack_answer(DONE)

    async def start_apart(self, employee: str) -> Address:
        raise AssertionError(f"{employee} sits with others")


@pytest.fixture
async def vigil(sqlite_store: SqlStore) -> AsyncIterator[Vigil]:
    vigil = Vigil(sqlite_store.leases, look_s=0.01)
    yield vigil
    vigil.close()


@pytest.fixture
def send(sqlite_store: SqlStore, vigil: Vigil) -> Callable[[Line], Awaitable[StatusReport]]:
    """Hand the order over, with a new host whenever there is none left."""
    numbers = count()

    async def stretch() -> Stretch:
        number = next(numbers)
        lease = await sqlite_store.leases.acquire(f"{LEASES}test/{number}", f"{this_process()}/{number}", 600)
        assert lease is not None
        execution = Lease(str(ORDER.execution_id), "somebody", 1, lease.expires_at)
        return Stretch(ORDER.execution_id, execution, False, False, (Address(f"host-{number}", lease),))

    async def sent(line: Line) -> StatusReport:
        staff = FakeStaff(FakeNode("head"), {})
        post = Post(
            await stretch(), Seating(staff), line, vigil, Apart(line), known=Known(), refill=stretch
        )  # fmt: skip
        return await post.send(ORDER)

    return sent


@pytest.mark.parametrize(
    ("ways", "code"),
    [
        ([HostLost("h")] * (LOSSES - 1), None),
        ([HostLost("h")] * LOSSES, "HOSTS_LOST"),
        ([HostLapsed("h")] * (LAPSES - 1), None),
        ([HostLapsed("h")] * LAPSES, "HOSTS_TOO_SLOW"),
        ([HostLapsed("h")] * (LAPSES - 1) + [HostLost("h")] * (LOSSES - 1), None),
        ([Stopped("o")] * LOSSES, None),
    ],
)
async def test_only_deaths_count_against_an_order_as_long_as_lapses_are_few(
    send: Callable[[Line], Awaitable[StatusReport]], ways: list[Exception], code: str | None
) -> None:
    line = Line(list(ways))
    report = await send(line)

    assert (report.error and report.error.code) == code
    assert len(line.called) == len(ways) + (code is None)


@pytest.mark.parametrize(("gone", "lost"), [(False, HostLapsed), (True, HostLost)])
async def test_a_host_without_its_lease_has_died_where_its_process_is_known_to_be_gone(
    sqlite_store: SqlStore, vigil: Vigil, gone: bool, lost: type[HostLost]
) -> None:

    name, machine, pid, began = this_process().split("/")
    if gone:
        pid = str(2**22 + 1)  # greater than any process has
    lease = await sqlite_store.leases.acquire(f"{LEASES}test/0", f"{name}/{machine}/{pid}/{began}/ab", 600)
    assert lease is not None
    waiting = asyncio.create_task(vigil.wait(Address("host-0", lease), asyncio.Event().wait()))
    await sqlite_store.leases.release(lease)

    with pytest.raises(HostLost) as told:
        await asyncio.wait_for(waiting, 30)
    assert type(told.value) is lost


async def test_who_waits_for_the_same_host_hears_in_which_way_it_was_lost(sqlite_store: SqlStore, vigil: Vigil) -> None:

    lease = await sqlite_store.leases.acquire(f"{LEASES}test/0", f"{this_process()}/ab", 600)
    assert lease is not None
    address = Address("host-0", lease)
    waiting = asyncio.create_task(vigil.wait(address, asyncio.Event().wait()))
    await asyncio.sleep(0)

    async def dies() -> None:
        raise HostLost("host-0")

    with pytest.raises(HostLost):
        await vigil.wait(address, dies())
    with pytest.raises(HostLost) as told:
        await asyncio.wait_for(waiting, 30)
    assert type(told.value) is HostLost
