"""Bridges that speak only HTTP: what they get, what they may do, and what is refused."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contracts import OrderState
from tests.console.api.stall import Stall, open_stall

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stall(tmp_path: Path) -> AsyncIterator[Stall]:
    async with open_stall(tmp_path) as stall:
        yield stall


async def test_an_order_that_reads_is_carried_out_and_its_evidence_is_sealed(stall: Stall) -> None:
    arm = await stall.arm().register(asks_first=False)
    running = stall.run("look")
    word = await arm.order(running)
    call = await word.call()
    picture = {"kind": "screenshot", "name": "eye.png", "media_type": "image/png", "content_base64": "aGVsbG8="}

    assert (call["capability"], call["effect"], call["ask_first"]) == ("arm.look", "read", False)
    assert call["arguments"] == {"at": 1}  # the default stands in it: nothing is left to bind
    await word.done(call, {"n": 7}, files=[picture])
    outcome = await running
    assert (outcome.state, outcome.output) == (OrderState.DONE, {"it": {"n": 7}})
    assert (await word.next())["report"]["state"] == "done"
    (package,) = await stall.events(outcome.execution_id, "evidence.sealed")
    items = package.data["package"]["items"]  # type: ignore[index,call-overload]
    assert [item["kind"] for item in items] == ["call", "call", "screenshot"]


async def test_an_effect_waits_for_the_card_and_is_carried_out_once(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("push")
    first = await arm.order(running)
    call = await first.call()
    execution = await first_execution(stall)
    assert not await stall.events(execution, "effect.")  # nobody asked for leave yet

    assert (await first.intend(call))["verdict"] == "card"
    assert (await running).state is OrderState.WAITING
    assert (await stall.application.slots())[0].order_id is None
    parked = (await first.next())["report"]
    assert (parked["state"], len(parked["waiting_for"])) == ("waiting", 1)
    running = await stall.go_on(execution, "do")
    second = await arm.order(running)
    assert (await first.next())["report"]["waiting_for"] == parked["waiting_for"]  # so did that stay end
    again = await second.call()
    verdict = await second.intend(again)
    assert (verdict["verdict"], verdict["key"]) == ("allowed", again["key"])
    assert again["key"] == call["key"] and again["call_id"] != call["call_id"] and second.fence > first.fence
    assert 0 < verdict["within_s"] <= 5
    await second.done(again, {"done": "yes"})

    assert (await running).state is OrderState.DONE
    (intended,) = await stall.events(execution, "effect.intended")
    assert intended.data["arguments_sha256"] == again["arguments_sha256"]  # type: ignore[index]


async def first_execution(stall: Stall) -> Any:
    (row,) = await stall.application.executions(organisation="stall", limit=5)
    return row.execution_id


async def test_what_a_rule_forbids_is_refused_at_the_intent(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("push", force="30")
    word = await arm.order(running)
    verdict = await word.intend(await word.call())

    assert (verdict["verdict"], verdict["code"]) == ("refused", "POLICY_VIOLATED")
    outcome = await running
    assert outcome.state is OrderState.FAILED and not await stall.events(outcome.execution_id, "effect.")


async def test_without_asking_first_only_orders_that_read_are_placed(stall: Stall) -> None:
    await stall.arm().register(asks_first=False)

    for skill in ("push", "set"):
        outcome = await stall.run(skill)
        assert outcome.error is not None and "asks-first" in outcome.error.message, skill


async def test_other_arguments_than_those_that_were_judged_are_not_allowed(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("push")
    word = await arm.order(running)
    call = await word.call()

    refused = await word.intend(call, expect=409, arguments_sha256="0" * 64)

    assert refused["code"] == "CALL_SETTLED"
    assert (await word.intend(call))["verdict"] == "card"
    await running


async def test_an_effect_that_may_be_repeated_is_asked_for_too(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("set")
    word = await arm.order(running)
    call = await word.call()

    early = await word.done(call, {"done": "yes"}, expect=409)

    assert (call["ask_first"], early["code"]) == (True, "CALL_SETTLED")
    assert (await word.intend(call))["verdict"] == "allowed"
    assert (await word.intend(call))["verdict"] == "allowed"  # an answer that was lost is given again
    assert not (await word.done(call, {"done": "yes"})).get("again")
    assert (await running).state is OrderState.DONE


async def test_a_receipt_that_comes_twice_counts_once(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("both")
    word = await arm.order(running)
    first = await word.call()
    second = await word.call(skip=[first["call_id"]])
    await word.done(first, {"n": first["arguments"]["at"]})

    assert (await word.done(first, {"n": 9}))["again"]
    await word.done(second, {"n": second["arguments"]["at"]})
    outcome = await running
    assert outcome.output == {"it": {"at_1": {"n": 1}, "at_2": {"n": 2}}}


async def test_content_that_is_not_base64_and_unknown_fields_are_refused(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("look")
    word = await arm.order(running)
    call = await word.call()
    broken = {"name": "a.txt", "content_base64": "not base64!"}

    assert (await word.done(call, {"n": 1}, expect=422, files=[broken]))["code"] == "INVALID_ARGUMENTS"
    assert (await word.done(call, {"n": 1}, expect=422, mood="good"))["code"] == "INVALID_REQUEST"
    assert (await word.say("receipt", expect=422, call_id=call["call_id"], outcome="done"))["code"] == "INVALID_REQUEST"
    sent = base64.b64encode(b"seen").decode()
    await word.done(call, {"n": 1}, files=[{"name": "a.txt", "content_base64": sent}])
    assert (await running).state is OrderState.DONE


async def test_what_does_not_fit_the_declaration_is_no_result(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("look")
    word = await arm.order(running)
    await word.done(await word.call(), {"n": "seven"})

    outcome = await running
    assert (outcome.state, await stall.events(outcome.execution_id, "product.")) == (OrderState.FAILED, [])
    assert outcome.error is not None and "arm.look" in outcome.error.message


async def test_many_words_at_once_about_an_order_begin_it_once(stall: Stall) -> None:
    arm = await stall.arm().register()
    running = stall.run("look")
    word = await arm.order(running)
    beats = [arm.beat(holding=[word.order_id]) for _ in range(4)]
    told = await asyncio.gather(*(word.say("next", wait_s=5) for _ in range(4)), *beats)

    assert len({each["call"]["call_id"] for each in told[:4]}) == 1
    await word.done(told[0]["call"], {"n": 1})
    outcome = await running
    begun = [each for each in await stall.events(outcome.execution_id, "order.") if each.subject == word.order_id]
    assert [each.type for each in begun] == ["order.accepted", "order.allocated", "order.finished"]
