"""Hosts hand orders to each other, survive each other, and write nothing without their lease; here without Ray."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agents.workforce.ray.host import Host
from agents.workforce.ray.messages import Address, Stretch, pack_order, unpack_answer
from agents.workforce.ray.post import Apart, Post
from agents.workforce.ray.seating import Seating
from agents.workforce.ray.vigil import Vigil
from contracts import ExecutionId, ExecutionRequest, Json, OrderState, PlanDefinition, StatusReport, Step, TaskOrder
from runtime.capabilities.port import CallContext, CallResult
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.errors import StaleWriter
from runtime.executor import ExecutionRun
from runtime.ledger.store import SqlStore
from tests.agents.employee.staff import SPECS, FakeNode, FakeSkill, FakeStaff
from tests.agents.workforce.company import Company
from tests.fakes.clock import HandClock
from tests.fakes.hosts import FakeLine, FakeOffice
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio
_NOWHERE = Path("/nowhere")


@dataclass
class Echo:
    """Gives back the text; from `hold` on it waits until it is let go."""

    spec = SPECS["echo"]
    calls: list[str] = field(default_factory=list)
    hold: bool = False
    called: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        self.calls.append(str(arguments["text"]))
        self.called.set()
        if self.hold:
            await self.go_on.wait()
        return CallResult({"text": arguments["text"]})


def staff() -> FakeStaff:
    clerk = FakeNode("clerk", skills=("write",), can=("echo",))
    head = FakeNode("head", skills=("oversee",), manages=(clerk,))
    one = Step(id="one", use="echo", arguments={"text": "1"})
    two = Step(id="two", use="echo", arguments={"text": "2"}, after=("one",))
    write = PlanDefinition(steps=(one, two))
    oversee = PlanDefinition(steps=(Step(id="go", by="clerk", skill="write"),))
    return FakeStaff(head, {"write": FakeSkill("write", write), "oversee": FakeSkill("oversee", oversee)})


@dataclass
class Hall:
    """An organisation of two in two hosts: the head in the first, the clerk in the second."""

    store: SqlStore
    company: Company
    echo: Echo
    line: FakeLine
    vigil: Vigil
    hosts: tuple[Address, ...]

    async def run(self, run: ExecutionRun) -> StatusReport:
        """Carry an execution out, as whoever works on it does."""
        stretch = Stretch(run.execution_id, run.leases[0], run.resumed, run.reopened, self.hosts)
        post = Post(stretch, Seating(self.company.staff), self.line, self.vigil, Apart(self.line), known=run.known)
        return await self.company.workforce.run(run, send=post.send)

    async def ask(self) -> StatusReport:
        """Ask for the head's skill and wait for its end."""
        asked = ExecutionRequest(organisation="airports", goal="Why?", skill="oversee", requested_by="ann")
        executor = self.company.executor
        executor._body = self  # the workforce of the company, in hosts
        execution_id = (await executor.submit(asked, "0" * 64, _NOWHERE)).execution_id
        return await executor.run(execution_id)

    async def until_called(self) -> None:
        """Return when the clerk is at work."""
        async with asyncio.timeout(60):
            await self.echo.called.wait()

    def host(self, number: int) -> Host:
        return self.line.hosts[self.hosts[number].actor]


@pytest.fixture
async def hall(sqlite_store: SqlStore, clock: HandClock) -> AsyncIterator[Hall]:
    company, echo = Company(staff(), sqlite_store, clock), Echo()
    company.router = Router(Registry([echo]))
    line = FakeLine()
    hosts = tuple([await line.open(f"host-{i}", FakeOffice(sqlite_store, company.workforce)) for i in range(2)])
    vigil = Vigil(sqlite_store.leases, look_s=60.0)
    yield Hall(sqlite_store, company, echo, line, vigil, hosts)
    vigil.close()
    await line.close()


async def test_orders_go_where_their_employees_sit(hall: Hall) -> None:
    report = await hall.ask()

    assert report.state is OrderState.DONE, report.error
    assert [call for call in hall.line.calls if call[1] == "deliver"] == [("host-0", "deliver"), ("host-1", "deliver")]
    assert hall.echo.calls == ["1", "2"]


async def test_what_was_finished_on_a_host_that_is_lost_is_not_done_again(hall: Hall) -> None:
    hall.echo.hold = True
    asking = asyncio.create_task(hall.ask())
    await hall.until_called()
    hall.echo.hold = False
    hall.line.ended.append("host-1")

    await hall.vigil.give_up(hall.hosts[1])
    hall.echo.go_on.set()
    report = await asking

    assert report.state is OrderState.DONE, report.error
    assert hall.echo.calls in (["1", "1", "2"], ["1", "2"])  # a read that was in progress is made again
    finished = [event.data["step"] for event in await hall.store.ledger.read_all(limit=500)
                if event.type == "step.finished" and event.data]  # fmt: skip
    assert sorted(finished) == ["go", "one", "two"]


async def test_a_host_without_its_lease_writes_nothing_and_ends(hall: Hall) -> None:
    hall.echo.hold = True
    asking = asyncio.create_task(hall.ask())
    await hall.until_called()
    await hall.store.leases.release(hall.hosts[1].lease)
    before = await hall.store.ledger.head()

    hall.echo.hold = False
    hall.echo.go_on.set()
    report = await asking

    assert hall.line.ended == ["host-1"]
    assert report.state is OrderState.DONE, report.error
    written = await hall.store.ledger.read_all(after=before, limit=500)
    assert [event.data["step"] for event in written if event.type == "step.finished" and event.data] == [
        "one",
        "two",
        "go",
    ]


async def test_an_order_handed_over_twice_is_in_hand_once(hall: Hall) -> None:
    hall.echo.hold = True
    asking = asyncio.create_task(hall.ask())
    await hall.until_called()
    order, stretch = await _in_hand(hall)

    again = asyncio.create_task(hall.line.call("host-1", "deliver", pack_order(stretch, order, new=False)))
    hall.echo.go_on.set()
    first, (second, _) = await asking, unpack_answer(await again)

    assert first.state is second.state is OrderState.DONE
    assert hall.echo.calls == ["1", "2"]


async def test_a_stop_returns_when_the_order_is_in_nobodys_hands(hall: Hall) -> None:
    hall.echo.hold = True
    asking = asyncio.create_task(hall.ask())
    await hall.until_called()

    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)

    assert [call for call in hall.line.calls if call[1] == "stop"] == [("host-0", "stop"), ("host-1", "stop")]
    assert hall.host(0).in_hand == hall.host(1).in_hand == frozenset()


async def test_an_order_that_ends_every_host_fails_after_three(hall: Hall) -> None:
    hall.echo.hold = True
    hall.line.ended.append("host-1")

    class Deadly:
        spec = SPECS["echo"]

        async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
            hall.line.ended.append("host-0")
            return CallResult({"text": "1"})

    hall.company.router = Router(Registry([Deadly()]))
    report = await hall.ask()

    assert report.state is OrderState.FAILED
    assert report.error is not None


async def test_a_later_stretch_takes_an_order_over_and_an_earlier_one_does_not(hall: Hall) -> None:
    hall.echo.hold = True
    asking = asyncio.create_task(hall.ask())
    await hall.until_called()
    order, stretch = await _in_hand(hall)
    await hall.store.leases.release(stretch.lease)
    lease = await hall.store.leases.acquire(stretch.execution_id, "another", 60.0)
    assert lease is not None
    later = Stretch(stretch.execution_id, lease, True, False, stretch.hosts)

    hall.echo.hold = False
    taken, _ = unpack_answer(await hall.line.call("host-1", "deliver", pack_order(later, order, new=False)))

    assert taken.state is OrderState.DONE
    with pytest.raises(StaleWriter):
        await asking


async def _in_hand(hall: Hall) -> tuple[TaskOrder, Stretch]:
    """Return the clerk's order, and the stretch in which it was handed over."""
    events = await hall.store.ledger.read_all(limit=500)
    orders = [TaskOrder.read(event.data["order"]) for event in events if event.type == "step.dispatched" and event.data]
    (order,) = [each for each in orders if each.employee == "clerk"]
    lease = next(lease for lease in await hall.store.leases.live("execution/"))
    return order, Stretch(ExecutionId(order.execution_id), lease, False, False, hall.hosts)
