from __future__ import annotations

import asyncio

import pytest

from contracts import Effect, Json, OrderState
from runtime.capabilities.port import CallContext, CallResult, EffectRequest, Waiting
from runtime.errors import (
    BusinessRefusal,
    CapabilityFailed,
    EffectInDoubt,
    InvalidArguments,
    ModelRequired,
    NetworkFault,
    PermissionRefused,
    StaleWriter,
)
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash
from tests.fakes.engine_world import CardGate, Tool, World, one_after_the_other

pytestmark = pytest.mark.anyio
PAY = {"id": "pay", "use": "pay", "with": {"amount": "5 USD"}}


def paying(*answers: object, effect: Effect = Effect.WRITE, can_look_up: bool = False) -> Tool:
    return Tool("pay", one_after_the_other(*answers), effect, can_look_up=can_look_up)


def noting() -> Tool:
    return Tool("note", one_after_the_other({}), Effect.READ)


async def test_the_intent_is_committed_before_the_call_and_the_receipt_after(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, paying({"ok": 1}))
    order = world.order(PAY)

    await world.run(order)

    kinds = await world.kinds(order)
    assert kinds == ["order.accepted", "effect.intended", "step.finished", "order.finished"]
    intent = (await sqlite_store.ledger.read(str(order.order_id)))[1].data
    assert intent is not None and intent["key"] == f"{order.order_id.ulid}:pay"


async def test_an_idempotent_effect_needs_no_gate_and_one_commit(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, paying({}, effect=Effect.IDEMPOTENT))
    world.gate.ask = True

    assert (await world.run(world.order(PAY))).state is OrderState.DONE
    assert world.gate.cards == {}


async def test_an_effect_waits_for_its_card_and_uses_it_in_the_commit_of_the_intent(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, paying({"ok": 1}))
    world.gate.ask = True
    order = world.order(PAY)
    waiting = await world.run(order)
    again = await world.run(order)
    (card,) = waiting.waiting_for
    world.gate.decide(card, True)  # type: ignore[arg-type]

    done = await world.run(order)

    assert (waiting.state, again, done.state) == (OrderState.WAITING, waiting, OrderState.DONE)
    used, intent = [e for e in await sqlite_store.ledger.read_all() if e.type in ("card.used", "effect.intended")][::-1]
    assert abs(used.position - intent.position) == 1
    assert (await world.kinds(order)).count("step.waiting") == 1
    assert len(world.tools["pay"].calls) == 1


async def test_a_no_is_a_refusal_that_nothing_tries_again(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, paying({}))
    world.gate.ask = True
    order = world.order(PAY)
    world.gate.decide((await world.run(order)).waiting_for[0], False)  # type: ignore[arg-type]

    report = await world.run(order)

    assert report.error is not None and report.error.code == "DENIED"
    assert world.tools["pay"].calls == []


async def test_what_was_approved_in_parallel_is_what_runs(sqlite_store: SqlStore, clock: HandClock) -> None:
    """D2: three calls of one tool wait; 1 and 3 are refused, 2 is approved: exactly call 2 runs."""
    world = World(sqlite_store, clock, paying({}))
    world.gate.ask = True
    order = world.order({"id": "all", "parallel": [{**PAY, "id": f"p{n}", "with": {"n": n}} for n in (1, 2, 3)]})
    waiting = await world.run(order)
    for card, request in world.gate.cards.items():
        world.gate.decide(card, request.step == "p2")

    report = await world.run(order)

    assert len(waiting.waiting_for) == 3
    assert world.tools["pay"].calls == [{"n": 2}]
    assert report.state is OrderState.DONE


async def crash_in_the_call(world: World, tool: Tool, order: object, *, happened: bool) -> None:
    """Let the process die while the effect is under way, after or before the other side did it."""
    act = tool._act

    def die(arguments: object, context: object) -> object:
        if happened:
            tool.happened[context.key] = await_result({"receipt": 7})  # type: ignore[attr-defined]
        raise Crash

    tool._act = die
    with pytest.raises(Crash):
        await world.run(order)  # type: ignore[arg-type]
    tool._act = act


def await_result(output: dict[str, Json]) -> object:
    from runtime.capabilities.port import CallResult

    return CallResult(output=output)


@pytest.mark.parametrize(("happened", "calls"), [(True, 1), (False, 2)])
async def test_after_a_crash_a_capability_that_can_tell_decides(
    sqlite_store: SqlStore, clock: HandClock, happened: bool, calls: int
) -> None:
    tool = paying({"receipt": 7}, can_look_up=True)
    world, order = World(sqlite_store, clock, tool), None
    order = world.order(PAY)
    await crash_in_the_call(world, tool, order, happened=happened)

    report = await world.run(order)

    assert (report.output, len(tool.calls)) == ({"receipt": 7}, calls)
    assert len(tool.keys) == 1


@pytest.mark.parametrize(("yes", "calls"), [(True, 1), (False, 2)])
async def test_after_a_crash_a_person_is_asked_when_nothing_else_can_tell(
    sqlite_store: SqlStore, clock: HandClock, yes: bool, calls: int
) -> None:
    tool = paying({"receipt": 7})
    world = World(sqlite_store, clock, tool)
    order = world.order(PAY)
    await crash_in_the_call(world, tool, order, happened=yes)
    waiting = await world.run(order)
    (card,) = world.gate.doubts
    world.gate.decide(card, yes)

    report = await world.run(order)

    assert waiting.waiting_for == (card,)
    assert (report.state, len(tool.calls)) == (OrderState.DONE, calls)
    assert report.output == ({"confirmed_by_person": True} if yes else {"receipt": 7})


@pytest.mark.parametrize("effect", [Effect.READ, Effect.IDEMPOTENT])
async def test_after_a_crash_what_may_run_again_does(sqlite_store: SqlStore, clock: HandClock, effect: Effect) -> None:
    tool = paying({"n": 1}, effect=effect)
    world = World(sqlite_store, clock, tool)
    order = world.order(PAY)
    await crash_in_the_call(world, tool, order, happened=True)

    assert (await world.run(order)).state is OrderState.DONE
    assert len(tool.calls) == 2


async def test_a_service_of_another_home_is_not_asked_what_this_one_did(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """Two homes on one ledger: the local service of the second one starts empty and would say that nothing happened."""
    first, second = paying({"receipt": 7}, can_look_up=True), paying({"receipt": 8}, can_look_up=True)
    first.instance, second.instance = lambda: "home-a", lambda: "home-b"  # type: ignore[attr-defined]
    world = World(sqlite_store, clock, first)
    order = world.order(PAY)
    await crash_in_the_call(world, first, order, happened=True)
    world.tools["pay"] = second

    waiting = await world.run(order)
    (card,) = waiting.waiting_for
    elsewhere = world.gate.doubts[card].step  # type: ignore[index]
    world.gate.decide(card, True)  # type: ignore[arg-type]
    done = await world.run(order)

    assert (waiting.state, elsewhere, done.state) == (OrderState.WAITING, "pay", OrderState.DONE)
    assert second.calls == []


@pytest.mark.parametrize("fault",
    [
        NetworkFault("reset"), CapabilityFailed("strange"), RuntimeError("bug"), BusinessRefusal("unreadable"),
        PermissionRefused("moved"), InvalidArguments("odd"), ModelRequired("none"), Waiting(()),
    ],
)  # fmt: skip
async def test_a_failure_that_does_not_say_that_nothing_happened_is_in_doubt_and_not_simply_tried_again(
    sqlite_store: SqlStore, clock: HandClock, fault: object
) -> None:
    tool = paying(fault, {"ok": 1})
    world = World(sqlite_store, clock, tool)

    report = await world.run(world.order({**PAY, "otherwise": {"use": "pay", "with": {}}}))

    assert report.state is OrderState.WAITING
    assert report.waiting_for == tuple(world.gate.doubts)
    assert len(tool.calls) == 1


async def test_a_suspicious_effect_that_is_not_kept_is_not_done_another_way(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = World(sqlite_store, clock, paying({"paid": 900}))
    rule = {"check": "paid < 100", "message": "That is a lot."}
    order = world.order({**PAY, "plausible": [rule], "otherwise": {"use": "pay", "with": {}}})
    await world.answer((await world.run(order)).waiting_for[0], "discard")

    report = await world.run(order)
    unit = (await world.view(order)).unit("pay")

    assert (report.state, len(world.tools["pay"].calls)) == (OrderState.FAILED, 1)
    assert unit.result is not None and unit.result.output == {"paid": 900}


async def test_a_doubt_that_nobody_settles_stays_a_doubt_in_the_ledger(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    class Stopped(CardGate):
        async def in_doubt(self, request: EffectRequest) -> Waiting | bool:
            raise EffectInDoubt("the person chose to stop")

    world = World(sqlite_store, clock, paying(NetworkFault("reset")))
    world.gate = Stopped()
    order = world.order(PAY)

    report = await world.run(order)
    intent = (await world.view(order)).unit("pay").intent

    assert report.error is not None and report.error.code == "EFFECT_IN_DOUBT"
    assert intent is not None and intent.open


async def test_a_doubt_about_which_nobody_can_be_asked_is_not_forgotten_when_the_order_is_reopened(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    class NoRule(CardGate):
        async def in_doubt(self, request: EffectRequest) -> Waiting | bool:
            raise PermissionRefused("there is no approval rule under which to ask")

    world = World(sqlite_store, clock, paying(NetworkFault("reset"), {"ok": 1}))
    world.gate, world.reopen = NoRule(), True
    order = world.order(PAY)

    states = [(await world.run(order)).state for _ in range(3)]

    assert states == [OrderState.FAILED] * 3
    assert len(world.tools["pay"].calls) == 1


async def test_a_time_out_of_an_effect_is_in_doubt(sqlite_store: SqlStore, clock: HandClock) -> None:
    async def hang(arguments: object, context: object) -> None:
        await asyncio.Event().wait()

    world = World(sqlite_store, clock, Tool("pay", hang, Effect.IRREVERSIBLE))

    assert (await world.run(world.order({**PAY, "timeout_s": 0.01}))).state is OrderState.WAITING


async def test_a_request_that_never_left_is_tried_again_under_the_same_approval(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    tool = paying(NetworkFault("refused", happened="no"), {"ok": 1})
    world = World(sqlite_store, clock, tool)
    world.gate.ask = True
    order = world.order(PAY)
    world.gate.decide((await world.run(order)).waiting_for[0], True)  # type: ignore[arg-type]

    report = await world.run(order)

    assert (report.output, len(tool.calls), len(tool.keys)) == ({"ok": 1}, 2, 1)
    assert [e.type for e in await sqlite_store.ledger.read_all()].count("card.used") == 1


async def test_a_lost_answer_that_the_capability_can_explain_needs_no_person(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    tool = paying(NetworkFault("reset"), {"ok": 1}, can_look_up=True)
    world = World(sqlite_store, clock, tool)

    report = await world.run(world.order(PAY))

    assert (report.output, len(tool.calls), world.gate.doubts) == ({"ok": 1}, 2, {})


async def test_a_refusal_by_the_other_side_leaves_no_doubt(sqlite_store: SqlStore, clock: HandClock) -> None:
    tool = paying(PermissionRefused("403", happened="no"))
    world = World(sqlite_store, clock, tool)
    order = world.order(PAY)

    assert (await world.run(order)).state is OrderState.FAILED
    assert (await world.view(order)).intents == []


async def test_a_step_may_treat_a_call_as_stronger_than_declared(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, paying({}, effect=Effect.READ))
    world.gate.ask = True

    assert (await world.run(world.order({**PAY, "effect": "irreversible"}))).state is OrderState.WAITING


class SlowService(Tool):
    """Does the effect while nobody waits for its answer any more: a first look-up comes too early."""

    looks = 0

    async def lookup(self, key: str, context: CallContext) -> CallResult | None:
        self.looks += 1
        return None if self.looks == 1 else CallResult(output={"receipt": 7})


async def test_a_look_up_that_comes_too_early_does_not_make_the_effect_twice(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    lost = one_after_the_other(NetworkFault("no answer", sent=True), {"receipt": 8})
    tool = SlowService("pay", lost, Effect.WRITE, can_look_up=True)
    world = World(sqlite_store, clock, tool)

    report = await world.run(world.order(PAY))

    assert (report.output, len(tool.calls), tool.looks) == ({"receipt": 7}, 1, 2)
    assert world.waits == [10.0]


@pytest.mark.parametrize("effect", [Effect.IDEMPOTENT, Effect.WRITE, Effect.IRREVERSIBLE])
async def test_who_lost_the_lease_while_the_process_stood_still_makes_no_effect(
    sqlite_store: SqlStore, clock: HandClock, effect: Effect
) -> None:
    tool = paying({}, effect=effect)
    world = World(sqlite_store, clock, tool)

    async def lost() -> None:
        raise StaleWriter("Another process has the slot.")

    world.still_held = lost
    with pytest.raises(StaleWriter):
        await world.run(world.order(PAY))

    assert tool.calls == []


async def test_a_read_asks_nobody_whether_the_lease_holds(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, paying({}, effect=Effect.READ))

    async def lost() -> None:
        raise AssertionError("nothing changes the world here")

    world.still_held = lost

    assert (await world.run(world.order(PAY))).state is OrderState.DONE
