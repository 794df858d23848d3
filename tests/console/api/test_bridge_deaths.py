"""Bridges that speak HTTP die, fall silent, come late or are replaced; servers die too. Nothing is done twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from console.api import create_api
from console.application import open_application
from console.views import ExecutionOutcome
from console.views_cluster import NodeState
from contracts import NodeId, OrderState
from tests.console.api.stall import LEASE_S, PATIENCE_S, Stall, Word, open_stall

pytestmark = pytest.mark.anyio
Running: TypeAlias = asyncio.Task[ExecutionOutcome]


@pytest.fixture
async def stall(tmp_path: Path) -> AsyncIterator[Stall]:
    async with open_stall(tmp_path) as stall:
        yield stall


async def allowed(stall: Stall, skill: str) -> tuple[Word, dict[str, Any], Running]:
    """Let an order come to a bridge, and the owner allow its effect; return it, its call and the execution."""
    arm = await stall.arm().register()
    running = stall.run(skill)
    word = await arm.order(running)
    assert (await word.intend(await word.call()))["verdict"] == "card"
    execution = (await running).execution_id
    running = await stall.go_on(execution, "do")
    word = await arm.order(running)
    call = await word.call()
    assert (await word.intend(call))["verdict"] == "allowed"
    return word, call, running


async def elsewhere(stall: Stall, running: Running) -> Word:
    """Return the order in the hands of another bridge, once the slot of the first has run out.

    It may be assigned to the first once more, which says nothing, so that it goes back.
    """
    stall.clock.advance(LEASE_S + 1)
    other = await stall.arm("arm-2").register()
    if not (orders := (await other.beat())["orders"]):
        stall.clock.advance(4)
        orders = (await other.beat())["orders"]
    return other.word(orders)


async def test_a_late_receipt_is_refused_and_the_next_bridge_is_asked_whether_it_happened(stall: Stall) -> None:
    late, call, running = await allowed(stall, "press")
    word = await elsewhere(stall, running)

    assert (await late.done(call, {"done": "late"}, expect=409))["code"] == "STALE_BRIDGE"
    assert (await late.intend(call, expect=409))["code"] == "STALE_BRIDGE"
    asked = await word.call()
    assert (asked["kind"], asked["key"], asked["ask_first"]) == ("look_up", call["key"], False)
    await word.done(asked, {"done": "by the first"})
    outcome = await running
    assert outcome.output == {"it": {"done": "by the first"}}
    assert len(await stall.events(outcome.execution_id, "effect.intended")) == 1


async def test_what_the_next_bridge_does_not_find_twice_is_done_again_with_the_same_key(stall: Stall) -> None:
    _, call, running = await allowed(stall, "press")
    word = await elsewhere(stall, running)

    for _ in range(2):
        await word.say("receipt", call_id=(await word.call())["call_id"], outcome="not_found")
    again = await word.call()
    verdict = await word.intend(again)
    await word.done(again, {"done": "now"})

    assert (again["kind"], verdict["verdict"], again["key"]) == ("call", "allowed", call["key"])
    assert (await running).output == {"it": {"done": "now"}}


async def test_an_effect_that_no_bridge_can_tell_about_is_put_before_a_person(stall: Stall) -> None:
    _, _, running = await allowed(stall, "push")
    await (await elsewhere(stall, running)).say("next")

    outcome = await running
    assert outcome.state is OrderState.WAITING
    (card,) = await stall.application.cards(all_=False)
    assert card.card.kind == "in_doubt"


@pytest.mark.parametrize("way", ["registered anew", "given back"])
async def test_nobody_looks_up_or_gets_leave_before_an_earlier_leave_has_run_out(stall: Stall, way: str) -> None:
    first, call, running = await allowed(stall, "press")
    if way == "given back":
        await first.say("give-back", expect=204)
    else:  # the process before may stand still, and wake while its leave still runs
        await first.arm.register()
    word = await first.arm.order(running)

    assert (await word.say("next", wait_s=0.2))["call"] is None
    stall.clock.advance(LEASE_S - 1)
    assert (await word.say("next", wait_s=0.2))["call"] is None
    stall.clock.advance(2)  # the first leave has run out
    for _ in range(2):
        asked = await word.call()
        assert (asked["kind"], asked["key"]) == ("look_up", call["key"])
        await word.say("receipt", call_id=asked["call_id"], outcome="not_found")
    again = await word.call()
    assert (await word.intend(again))["verdict"] == "allowed"
    await word.done(again, {"done": "once"})
    assert (await running).output == {"it": {"done": "once"}}


async def test_nobody_is_asked_whether_it_happened_before_the_leave_has_run_out(stall: Stall) -> None:
    first, _, running = await allowed(stall, "push")
    word = await (await first.arm.register()).order(running)

    assert (await word.say("next", wait_s=0.2))["call"] is None
    assert await stall.application.cards(all_=False) == []
    stall.clock.advance(LEASE_S - 1)
    await word.say("next")
    stall.clock.advance(2)
    assert (await running).state is OrderState.WAITING
    (card,) = await stall.application.cards(all_=False)
    assert card.card.kind == "in_doubt"


@pytest.mark.parametrize(
    ("option", "state", "code"), [("happened", OrderState.DONE, None), ("again", OrderState.FAILED, "NO_NODE_FITS")]
)
async def test_an_effect_in_doubt_is_put_before_a_person_although_no_bridge_comes_back(
    stall: Stall, option: str, state: OrderState, code: str | None
) -> None:
    word, _, running = await allowed(stall, "push")
    organisations = await stall.application._resources.organisations()  # type: ignore[attr-defined]
    organisations.bridge._resident._allocate_s = 0.0  # nobody waits for a slot any longer
    await word.arm.post(f"{word.arm.path}/leave", expect=204, session=word.session)
    stall.clock.advance(LEASE_S + 1)

    outcome = await running
    assert outcome.state is OrderState.WAITING
    (card,) = await stall.application.cards(all_=False)
    assert card.card.kind == "in_doubt"
    outcome = await (await stall.go_on(outcome.execution_id, option))
    assert outcome.state is state
    assert (outcome.error.code if outcome.error else None) == code
    assert len(await stall.events(outcome.execution_id, "effect.intended")) == 1


async def test_a_bridge_that_comes_after_the_answer_does_what_did_not_happen(stall: Stall) -> None:
    word, call, running = await allowed(stall, "push")
    organisations = await stall.application._resources.organisations()  # type: ignore[attr-defined]
    organisations.bridge._resident._allocate_s = 0.0
    await word.arm.post(f"{word.arm.path}/leave", expect=204, session=word.session)
    stall.clock.advance(LEASE_S + 1)
    execution = (await running).execution_id

    organisations.bridge._resident._allocate_s = 60.0
    arm = await stall.arm("arm-2").register()
    running = await stall.go_on(execution, "again")
    word = await arm.order(running)
    anew = await word.call()
    assert anew["key"] == call["key"]
    assert (await word.intend(anew))["verdict"] == "allowed"
    await word.done(anew, {"done": "now"})
    assert (await running).output == {"it": {"done": "now"}}


async def test_a_bridge_that_died_before_it_asked_leaves_nothing_in_doubt(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("set")
    await (await arm.order(running)).call()
    word = await elsewhere(stall, running)

    call = await word.call()
    assert call["kind"] == "call"
    await word.intend(call)
    await word.done(call, {"done": "yes"})
    assert (await running).state is OrderState.DONE


async def test_a_node_that_is_registered_anew_ends_its_earlier_session_and_goes_on_at_once(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("look")
    old = await arm.order(running)
    call = await old.call()
    fresh = await stall.arm().register()  # the same name: the same node

    word = await fresh.order(running)
    assert (fresh.path, word.order_id) == (arm.path, old.order_id) and word.fence > old.fence
    assert (await arm.post(f"{arm.path}/beat", expect=409, session=arm.session))["code"] == "BRIDGE_REPLACED"
    assert (await old.done(call, {"n": 1}, expect=409))["code"] == "STALE_BRIDGE"
    await word.done(await word.call(), {"n": 2})
    assert (await running).output == {"it": {"n": 2}}


async def test_a_bridge_that_leaves_or_gives_back_lets_its_order_go_on_elsewhere(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("look")
    word = await arm.order(running)
    await word.say("give-back", expect=204)
    again = await arm.order(running)
    await arm.post(f"{arm.path}/leave", expect=204, session=arm.session)
    other = await (await stall.arm("arm-2").register()).order(running)

    assert word.order_id == again.order_id == other.order_id
    assert (await again.say("next", expect=409))["code"] == "STALE_BRIDGE"
    await other.done(await other.call(), {"n": 3})
    assert (await running).output == {"it": {"n": 3}}


async def test_a_silent_bridge_is_lost_and_told_so(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("look")
    word = await arm.order(running)
    stall.clock.advance(16)  # three beats
    other = await stall.arm("arm-2").register()
    taken = await other.order(running)

    assert (await arm.post(f"{arm.path}/beat", expect=409, session=arm.session))["code"] == "SESSION_OVER"
    states = {str(node.node_id): node.state for node in await stall.application.nodes()}
    assert states[str(arm.entry["node_id"])] == "lost"
    assert word.order_id == taken.order_id
    await taken.done(await taken.call(), {"n": 4})
    assert (await running).state is OrderState.DONE


async def test_words_of_a_bridge_keep_its_slot_and_name_what_it_lost(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("look")
    word = await arm.order(running)
    await word.say("next")  # takes it
    for _ in range(4):
        stall.clock.advance(LEASE_S - 1)
        told = await arm.beat(holding=[word.order_id])
        assert (told["orders"], told["lost"]) == ([], [])
    call = await word.call()
    await arm.beat(holding=[word.order_id], taking=False)  # or the server might give it the lost order again at once
    stall.clock.advance(LEASE_S + 1)

    told = await arm.beat(holding=[word.order_id], taking=False)
    assert told["lost"] == [word.order_id]
    again = await arm.order(running)
    assert again.fence > word.fence
    assert (await word.done(call, {"n": 1}, expect=409))["code"] == "STALE_BRIDGE"
    await again.done(await again.call(), {"n": 5})
    assert (await running).state is OrderState.DONE


async def test_an_order_whose_news_was_lost_on_the_way_is_told_again(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("look")
    first = await arm.order(running)
    again = await arm.order(running)

    assert (first.order_id, first.fence) == (again.order_id, again.fence)
    await again.done(await again.call(), {"n": 1})
    assert (await running).state is OrderState.DONE


async def test_a_receipt_outlives_the_server_that_waited_for_it(stall: Stall) -> None:
    async with open_application(stall.settings, stall.clock) as other:
        api = create_api(other, settings=stall.settings, wake=lambda _: None, clock=stall.clock)
        arm = await stall.arm(api=api).register()
        running = stall.run("press")
        word = await arm.order(running)
        assert (await word.intend(await word.call()))["verdict"] == "card"
        execution = (await running).execution_id
        running = await stall.go_on(execution, "do")
        word = await arm.order(running)
        call = await word.call()
        assert (await word.intend(call))["verdict"] == "allowed"
    # the server that took the order from step to step is gone; the bridge turns to the one that is left

    word.arm.client = stall.client()
    await word.done(call, {"done": "once"})
    assert (await word.next())["report"]["state"] == "done"
    outcome = await running
    assert outcome.output == {"it": {"done": "once"}}
    assert len(await stall.events(execution, "effect.intended")) == 1


async def test_an_order_that_was_told_and_not_taken_goes_back_in_seconds_and_counts_as_no_loss(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("look")
    silent = await arm.order(running)  # from now on only its signs of life go on
    other = await stall.arm("arm-2").register()
    stall.clock.advance(4)  # over cluster.accept_s
    await arm.beat(taking=False)
    word = await other.order(running)

    assert (await silent.say("next", expect=409))["code"] == "STALE_BRIDGE"
    (row,) = await stall.application.cluster_orders(limit=5)
    assert (row.order_id, str(row.node_id), row.losses) == (silent.order_id, other.entry["node_id"], 0)
    await word.done(await word.call(), {"n": 1})
    assert (await running).state is OrderState.DONE


async def test_a_cancel_takes_back_what_no_bridge_had_leave_for(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("set")
    word = await arm.order(running)
    call = await word.call()
    (row,) = await stall.application.executions(organisation="stall", limit=1)
    await stall.application.request_cancel(row.execution_id, by="clerk")

    assert (await running).state is OrderState.CANCELLED
    assert (await word.intend(call, expect=409))["code"] in ("CALL_SETTLED", "STALE_BRIDGE")


async def test_the_receipt_of_a_call_counts_although_its_execution_is_cancelled_meanwhile(stall: Stall) -> None:
    word, call, running = await allowed(stall, "push")
    (row,) = await stall.application.executions(organisation="stall", limit=1)
    await stall.application.request_cancel(row.execution_id, by="clerk")
    await word.done(call, {"done": "it was"})

    assert (await running).state in (OrderState.CANCELLED, OrderState.DONE)  # as the request came before it or after
    receipts = [each for each in await stall.events(row.execution_id, "step.finished") if each.subject == word.order_id]
    assert [each.data["output"] for each in receipts if each.data] == [{"done": "it was"}]


async def test_a_node_that_drains_hands_its_order_on_after_the_step_in_progress(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("one-by-one")
    word = await arm.order(running)
    call = await word.call()
    other = await stall.arm("arm-2").register()
    await stall.application.close_node(NodeId(arm.entry["node_id"]), NodeState.DRAINING)
    organisations = await stall.application._resources.organisations()  # type: ignore[attr-defined]
    draining, _ = organisations.foreign.gateway._stewards._engines._in_hand[word.order_id]
    async with asyncio.timeout(PATIENCE_S):
        await draining.until_begun()
    await word.done(call, {"n": 1})
    taken = await other.order(running)

    assert (await word.say("next", expect=409))["code"] == "STALE_BRIDGE"
    second = await taken.call()
    assert second["arguments"] == {"at": 2}
    await taken.done(second, {"n": 2})
    assert (await running).output == {"it": {"at_1": {"n": 1}, "at_2": {"n": 2}}}
