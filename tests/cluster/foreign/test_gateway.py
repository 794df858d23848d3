"""The gateway for bridges that speak HTTP, on every database: what it promises beside the HTTP around it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import select

from cluster import ControlPlane, EngineFactory, Node, open_control_plane
from cluster.control_plane import Entered
from cluster.foreign import Rights, open_foreign
from cluster.foreign.errors import BridgeReplaced, CallSettled, SessionOver, StaleBridge
from contracts import (
    BridgeAsk,
    BridgeBeat,
    BridgeCall,
    BridgeEntry,
    BridgeIntent,
    BridgeNode,
    BridgeOrder,
    BridgeReceipt,
    BridgeWord,
    CallKind,
    CallOutcome,
    CardId,
    Effect,
    NodeId,
    OrderId,
    OrderState,
    StatusReport,
    TaskOrder,
    VerdictKind,
)
from runtime.capabilities.bridged import BridgeCalls, Offer
from runtime.capabilities.placing import ASKS_FIRST, carries, serves
from runtime.errors import StaleWriter
from runtime.ledger.grip import StillHeld
from runtime.ledger.port import Append, Lease, NewEvent
from runtime.ledger.schema import cluster_calls, metadata
from runtime.ledger.store import SqlStore
from runtime.settings import ClusterSettings, SlotSettings
from tests.fakes.clock import HandClock
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio
SLOT, CLUSTER = SlotSettings(lease_s=5), ClusterSettings(pull_s=0.02)
RIGHTS = Rights("01JB0000000000000000000TKN", ("three-airports",), ("arm",))
LABELS = ("arm", carries("arm.push"), serves("three-airports"), ASKS_FIRST)


CANARY = "canary-4711-ü"
"""An argument that nobody may find once it is no longer needed."""
TABLES = [table for name, table in metadata.tables.items() if name.startswith("cluster_")]


def push(order_id: OrderId, **changes: Any) -> Offer:
    """A call that is to be laid before the bridge."""
    facts: dict[str, Any] = {
        "order_id": order_id, "step": "do", "kind": CallKind.CALL, "capability": "arm.push", "effect": Effect.WRITE,
        "ask_first": True, "arguments": {"force": 3, "note": CANARY}, "key": f"{order_id}:do", "within_s": 30,
    }  # fmt: skip
    return Offer(**{**facts, **changes})


class PushingEngine:
    """Has a bridge push once, then writes down what it said, under the lease of the slot."""

    def __init__(self, engines: PushingEngines, leases: Sequence[Lease]) -> None:
        self._store, self._calls, self._engines, self._leases = engines.store, engines.calls, engines, leases

    async def run(self, order: TaskOrder, **_: Any) -> StatusReport:
        handed = await self._calls.offer(push(order.order_id))
        await handed.until_asked()
        await self._engines.may_allow.wait()
        await handed.allow()
        receipt = await handed.until_answered()
        await self._engines.may_end.wait()
        told = NewEvent("order.accepted", {"output": receipt.output})
        append = Append(order.order_id, (told,), 0, order.organisation, "/test", leases=tuple(self._leases))
        await self._store.ledger.append(append)
        return StatusReport(order_id=order.order_id, state=OrderState.DONE, output=receipt.output)


class PushingEngines:
    """The port `Engines`."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self.calls: BridgeCalls
        self.may_allow, self.may_end = asyncio.Event(), asyncio.Event()
        self.may_allow.set()
        self.may_end.set()

    @asynccontextmanager
    async def for_order(self, order: TaskOrder) -> AsyncIterator[EngineFactory]:
        def made(leases: Sequence[Lease], still_held: StillHeld) -> PushingEngine:
            return PushingEngine(self, leases)

        yield made

    def hold(self, order_id: OrderId) -> bool:
        return False


class World:
    """One process that submits orders and answers bridges."""

    def __init__(self, store: SqlStore, clock: HandClock) -> None:
        self.engines = engines = PushingEngines(store)
        foreign = open_foreign(store, engines, clock, slot=SLOT, cluster=CLUSTER)
        engines.calls = foreign.calls
        self.gateway, self.clock, self.store = foreign.gateway, clock, store
        self.calls = foreign.calls
        node = Node(NodeId.new(), 1)
        self.plane: ControlPlane = open_control_plane(store, node, clock, slot=SLOT, cluster=CLUSTER)

    async def enter(self, name: str = "arm-1") -> BridgeEntry:
        node = BridgeNode(name=name, slots=2, labels=("arm",), capabilities=("arm.push",), asks_first=True)
        return await self.gateway.register(RIGHTS, node)

    async def submit(self) -> Entered:
        await self.plane.beat(for_all=True, pulled_at=self.clock.now())
        return await self.plane.enqueue(an_order(labels=LABELS))

    async def beat(self, entry: BridgeEntry, **more: Any) -> tuple[BridgeOrder, ...]:
        return (await self.gateway.beat(RIGHTS, entry.node_id, BridgeBeat(session=entry.session, **more))).orders

    async def call(self, entry: BridgeEntry, given: BridgeOrder) -> BridgeCall:
        ask = BridgeAsk(**word(entry, given), wait_s=10)
        call = (await self.gateway.next(RIGHTS, entry.node_id, given.order.order_id, ask)).call
        assert call is not None
        return call

    async def told(self) -> tuple[BridgeEntry, BridgeOrder, BridgeCall, BridgeIntent]:
        """A bridge that was told of one call, and how it asks for leave."""
        entry = await self.enter()
        await self.submit()
        (given,) = await self.beat(entry)
        call = await self.call(entry, given)
        intent = BridgeIntent(**word(entry, given), call_id=call.call_id, arguments_sha256=call.arguments_sha256)
        return entry, given, call, intent

    async def finds(self, text: str) -> list[str]:
        """The tables of the cluster in which a row holds the text."""
        rows = [(table.name, await self.store.reader.rows(select(table))) for table in TABLES]
        found = [(name, value) for name, each in rows for row in each for value in row]
        return [
            name
            for name, value in found
            if text.encode() in (value if isinstance(value, bytes) else str(value).encode())
        ]


def word(entry: BridgeEntry, given: BridgeOrder) -> dict[str, Any]:
    return {"session": entry.session, "slot_id": given.allocation.slot_id, "fence": given.allocation.fence}


@pytest.fixture
async def world(store: SqlStore, clock: HandClock) -> AsyncIterator[World]:
    world = World(store, clock)
    yield world
    await world.gateway.close()


async def test_an_order_goes_to_a_bridge_and_its_report_to_whoever_submitted_it(world: World) -> None:
    entry = await world.enter()
    await world.submit()
    (given,) = await world.beat(entry)
    call, about = await world.call(entry, given), given.order.order_id
    intent = BridgeIntent(**word(entry, given), call_id=call.call_id, arguments_sha256=call.arguments_sha256)
    receipt = BridgeReceipt(
        **word(entry, given), call_id=call.call_id, outcome=CallOutcome.DONE, output={"done": "ü ∎"}
    )

    assert (await world.gateway.intent(RIGHTS, entry.node_id, about, intent)).verdict is VerdictKind.ALLOWED
    assert not (await world.gateway.receipt(RIGHTS, entry.node_id, about, receipt)).again
    ended = await world.gateway.next(RIGHTS, entry.node_id, about, BridgeAsk(**word(entry, given), wait_s=10))
    assert ended.report is not None and ended.report.output == {"done": "ü ∎"}
    (report,) = (await world.plane.look()).reports
    assert (report.order_id, report.state, len(report.evidence)) == (about, OrderState.DONE, 1)


async def test_a_receipt_is_kept_without_the_secrets_in_it(world: World) -> None:
    entry = await world.enter()
    await world.submit()
    (given,) = await world.beat(entry)
    call, about = await world.call(entry, given), given.order.order_id
    intent = BridgeIntent(**word(entry, given), call_id=call.call_id, arguments_sha256=call.arguments_sha256)
    await world.gateway.intent(RIGHTS, entry.node_id, about, intent)
    key = "sk-" + "a1b2c3d4" * 4
    output = {"done": f"with {key}", "password": "hunter2hunter2"}
    said = BridgeReceipt(**word(entry, given), call_id=call.call_id, outcome=CallOutcome.DONE, output=output)

    await world.gateway.receipt(RIGHTS, entry.node_id, about, said)
    kept = await world.store.reader.rows(select(cluster_calls.c.said).where(cluster_calls.c.call_id == call.call_id))

    assert json.loads(bytes(kept[0][0]))["output"] == {"done": "with [redacted]", "password": "[redacted]"}


async def test_no_leave_is_told_of_a_call_any_more_once_it_is_asked_whether_it_happened(world: World) -> None:
    entry = await world.enter()
    await world.submit()
    (given,) = await world.beat(entry)
    call, about = await world.call(entry, given), given.order.order_id
    intent = BridgeIntent(**word(entry, given), call_id=call.call_id, arguments_sha256=call.arguments_sha256)
    first = await world.gateway.intent(RIGHTS, entry.node_id, about, intent)
    asking = asyncio.create_task(world.calls.leave_over(about, call.key))
    world.clock.advance(SLOT.lease_s - 1)
    again = await world.gateway.intent(RIGHTS, entry.node_id, about, intent)  # it runs five seconds from now
    world.clock.advance(2)
    await world.beat(entry, holding=(about,))
    assert not asking.done()

    world.clock.advance(SLOT.lease_s - 1)
    await asyncio.wait_for(asking, 30)
    with pytest.raises(CallSettled, match="in doubt"):
        await world.gateway.intent(RIGHTS, entry.node_id, about, intent)
    assert first.verdict is again.verdict is VerdictKind.ALLOWED


async def test_an_order_that_is_not_taken_goes_back_and_one_that_is_lost_counts(world: World) -> None:
    entry = await world.enter()
    await world.submit()
    (told,) = await world.beat(entry)
    world.clock.advance(CLUSTER.accept_s + 0.5)
    await world.plane.look()
    (again,) = await world.beat(entry) or await world.beat(entry)
    assert again.allocation != told.allocation
    assert [each.losses for each in await world.plane.orders()] == [0]

    await world.call(entry, again)
    world.clock.advance(SLOT.lease_s + 0.5)
    await world.plane.beat(for_all=True, pulled_at=world.clock.now())
    with pytest.raises(StaleBridge):
        await world.call(entry, again)
    await world.plane.look()
    assert [each.losses for each in await world.plane.orders()] == [1]


async def test_of_two_that_are_the_same_node_the_later_one_is_it(world: World) -> None:
    first = await world.enter()
    await world.submit()
    (given,) = await world.beat(first)
    second = await world.enter()

    assert first.node_id == second.node_id
    with pytest.raises(BridgeReplaced):
        await world.beat(first)
    (again,) = await world.beat(second)
    assert (again.order.order_id, again.allocation.fence) == (given.order.order_id, given.allocation.fence + 1)


async def test_another_token_is_not_told_whether_a_node_is_there(world: World) -> None:
    entry, other = await world.enter(), Rights("01JB0000000000000000000THR", ("three-airports",), ("arm",))
    told = []
    for node_id in (entry.node_id, NodeId.new()):
        with pytest.raises(SessionOver) as refused:
            await world.gateway.beat(other, node_id, BridgeBeat(session=entry.session))
        with pytest.raises(SessionOver) as left:
            await world.gateway.leave(other, node_id, entry.session)
        told += [each.value.message.replace(node_id, "it") for each in (refused, left)]

    assert len(set(told)) == 1
    assert await world.beat(entry) == ()


async def test_a_beat_that_waits_hears_of_an_order_that_comes_meanwhile(world: World) -> None:
    entry = await world.enter()
    async with asyncio.timeout(30):
        waiting = asyncio.create_task(world.beat(entry, wait_s=10))
        await world.submit()
        assert len(await waiting) == 1


async def test_arguments_are_in_no_row_once_the_receipt_is_here_and_their_hash_still_answers(world: World) -> None:
    entry, given, call, intent = await world.told()
    about = given.order.order_id
    said = BridgeReceipt(**word(entry, given), call_id=call.call_id, outcome=CallOutcome.DONE, output={"done": True})
    await world.gateway.intent(RIGHTS, entry.node_id, about, intent)
    assert (call.arguments["note"], await world.finds(CANARY)) == (CANARY, ["cluster_calls"])

    await world.gateway.receipt(RIGHTS, entry.node_id, about, said)
    assert await world.finds(CANARY) == []
    kept = await world.store.reader.rows(select(cluster_calls.c.call).where(cluster_calls.c.call_id == call.call_id))
    assert json.loads(bytes(kept[0][0]))["call"]["arguments_sha256"] == call.arguments_sha256


async def test_what_is_said_late_of_an_answered_call_is_judged_by_the_hash_of_its_arguments(world: World) -> None:
    entry, given, call, intent = await world.told()
    world.engines.may_end.clear()
    about = given.order.order_id
    said = BridgeReceipt(**word(entry, given), call_id=call.call_id, outcome=CallOutcome.DONE, output={"done": True})
    await world.gateway.intent(RIGHTS, entry.node_id, about, intent)
    await world.gateway.receipt(RIGHTS, entry.node_id, about, said)

    assert (await world.gateway.receipt(RIGHTS, entry.node_id, about, said)).again
    with pytest.raises(CallSettled, match="answered"):
        await world.gateway.intent(RIGHTS, entry.node_id, about, intent)
    with pytest.raises(CallSettled, match="other arguments"):
        await world.gateway.intent(
            RIGHTS, entry.node_id, about, intent.model_copy(update={"arguments_sha256": "0" * 64})
        )
    again = await world.calls.begun(about, call.key)
    assert again is not None and (await again.until_answered()).output == {"done": True}


async def test_a_receipt_goes_with_the_order_whose_ledger_has_it(world: World) -> None:
    entry, given, call, intent = await world.told()
    world.engines.may_end.clear()
    about = given.order.order_id
    said = BridgeReceipt(**word(entry, given), call_id=call.call_id, outcome=CallOutcome.DONE, output={"slip": "S-17"})
    await world.gateway.intent(RIGHTS, entry.node_id, about, intent)
    await world.gateway.receipt(RIGHTS, entry.node_id, about, said)
    handed = await world.calls.begun(about, call.key)
    assert handed is not None and await world.finds("S-17") == ["cluster_calls"]

    world.engines.may_end.set()
    await world.gateway.next(RIGHTS, entry.node_id, about, BridgeAsk(**word(entry, given), wait_s=10))
    await world.plane.look()
    async with asyncio.timeout(30):
        while await world.finds("S-17"):  # whoever took the order along erases it a moment later
            await world.beat(entry)
    with pytest.raises(StaleWriter):
        await handed.until_answered()


@pytest.mark.parametrize("ends", ["card", "refused", "withdrawn", "offered anew"])
async def test_arguments_go_with_the_verdict_that_nothing_is_to_be_done(world: World, ends: str) -> None:
    world.engines.may_allow.clear()
    entry, given, _, intent = await world.told()
    about = given.order.order_id
    handed = await world.calls.offer(push(about))
    asking = asyncio.create_task(world.gateway.intent(RIGHTS, entry.node_id, about, intent))
    async with asyncio.timeout(30):
        await handed.until_asked()
    match ends:
        case "card":
            await handed.put_to_people([CardId.new()])
        case "refused":
            await handed.refuse("DENIED", "No.")
        case "withdrawn":
            await handed.withdraw()
        case "offered anew":
            await world.calls.offer(push(about, arguments={"force": 4}))
    asking.cancel()

    assert await world.finds(CANARY) == []


async def test_arguments_go_once_somebody_else_finds_out_whether_it_happened(world: World) -> None:
    entry, given, call, intent = await world.told()
    about = given.order.order_id
    await world.gateway.intent(RIGHTS, entry.node_id, about, intent)
    closing = asyncio.create_task(world.calls.leave_over(about, call.key))
    world.clock.advance(SLOT.lease_s + 0.5)
    await asyncio.wait_for(closing, 30)

    assert await world.finds(CANARY) == []


async def test_arguments_go_with_the_order_that_is_handed_back(world: World) -> None:
    entry, given, _, intent = await world.told()
    about = given.order.order_id
    await world.gateway.intent(RIGHTS, entry.node_id, about, intent)
    assert await world.finds(CANARY) == ["cluster_calls"]

    await world.gateway.give_back(RIGHTS, entry.node_id, about, BridgeWord(**word(entry, given)))
    assert await world.finds(CANARY) == []


async def test_a_call_of_which_nothing_was_heard_is_forgotten_after_a_day(world: World) -> None:
    entry, given, _, intent = await world.told()
    await world.gateway.intent(RIGHTS, entry.node_id, given.order.order_id, intent)
    world.clock.advance(25 * 3_600)
    await world.enter("arm-2")

    assert await world.store.reader.rows(select(cluster_calls.c.call_id)) == []
