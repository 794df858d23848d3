"""Every road to a capability passes the rules: a step, a model, a way back, an order below; the no is in the ledger."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import Effect, OrderState, PlanDefinition
from governance.policies import Policy, StandingPolicies
from runtime.errors import NetworkFault
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World, one_after_the_other
from tests.fakes.model import calls, done
from tests.runtime.engine.cancelled_desk import cancel_when, desk, effect
from tests.runtime.engine.react.talking import THINK, a_world, played

pytestmark = pytest.mark.anyio
SMALL = Policy("small", "At most 5.", "arguments.n <= 5", ("look", "pay"))
LOOK = {"id": "look", "use": "look", "with": {"n": 7}}


def held(world: World, *rules: Policy) -> World:
    world.check = StandingPolicies(rules, lambda: ())
    return world


async def refused(world: World, order: Any) -> list[dict[str, Any]]:
    events = await world.store.ledger.read(str(order.order_id))
    return [dict(event.data or {}) for event in events if event.type == "policy.refused"]


@pytest.mark.parametrize("effect_of_it", list(Effect))
async def test_a_step_that_breaks_a_rule_calls_nothing_whatever_its_effect(
    sqlite_store: SqlStore, clock: HandClock, effect_of_it: Effect
) -> None:
    tool = Tool("look", one_after_the_other({}), effect_of_it)
    world = held(World(sqlite_store, clock, tool), SMALL)
    order = world.order(LOOK)

    report = await world.run(order)

    assert (report.state, report.error.code if report.error else "") == (OrderState.FAILED, "POLICY_VIOLATED")
    assert tool.calls == []
    [told] = await refused(world, order)
    assert (told["rule"], told["rule_version"], told["use"]) == ("small", SMALL.version, "look")
    assert len(told["request_sha256"]) == 64


async def test_a_call_that_keeps_the_rule_is_made(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = held(World(sqlite_store, clock, Tool("look", one_after_the_other({}))), SMALL)
    order = world.order({**LOOK, "with": {"n": 5}})

    assert (await world.run(order)).state is OrderState.DONE
    assert await refused(world, order) == []


async def test_a_model_is_told_that_its_call_was_refused_and_the_refusal_is_recorded(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = held(a_world(sqlite_store, clock, calls(("look", {"n": 9}), ("pay", {"n": 9, "to": "ann"})), done(n=1)))
    held(world, SMALL)
    order = world.order(THINK)

    assert (await world.run(order)).state is OrderState.DONE

    assert [tool.calls for tool in world.tools.values()] == [[], []]
    assert "The rule small forbids look: At most 5" in str(played(world).requests[-1].messages)
    told = await refused(world, order)
    assert sorted(each["use"] for each in told) == ["look", "pay"]
    assert all(each["call"] for each in told)


async def test_a_rule_that_became_stricter_refuses_the_next_try_of_an_announced_effect(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    rules: list[Policy] = []
    pay = Tool("pay", one_after_the_other(NetworkFault("down", happened="no"), {}), Effect.WRITE)
    world = World(sqlite_store, clock, pay)
    world.check = StandingPolicies((), lambda: tuple(rules))
    world.meanwhile = lambda: rules.append(Policy("never", "Pay nothing.", "false", ("pay",)))
    order = world.order({"id": "pay", "use": "pay", "with": {"n": 1}})

    report = await world.run(order)

    assert report.error is not None and report.error.code == "POLICY_VIOLATED"
    assert len(pay.calls) == 1
    assert [each["rule"] for each in await refused(world, order)] == ["never"]


async def test_what_takes_an_effect_back_keeps_the_rules_too(sqlite_store: SqlStore, clock: HandClock) -> None:
    world, happened, hanging = desk(sqlite_store, clock)
    held(world, Policy("kept", "Nothing is taken back.", "false", ("undo",)))
    order = world.order(effect(1), {"id": "stuck", "use": "hang", "after": ["e1"]})

    report = await cancel_when(world, order, hanging)

    assert happened == ["do 1"]
    assert report.error is not None and "could not be taken back: 1" in report.error.message
    assert [each["use"] for each in await refused(world, order)] == ["undo"]


async def test_a_refusal_in_an_order_below_stands_once_in_its_own_stream(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = held(World(sqlite_store, clock, Tool("look", one_after_the_other({}))), SMALL)
    world.skills["see"] = PlanDefinition.model_validate({"steps": [LOOK]})
    order = world.order({"id": "below", "by": "clerk", "skill": "see"})

    assert (await world.run(order)).state is OrderState.FAILED

    assert await refused(world, order) == []
    assert world.staff is not None
    assert len(await refused(world, world.staff.orders[0])) == 1
