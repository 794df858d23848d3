"""What a request took that no answer came to: counted at its worst where nobody knows, and it bounds the order."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from contracts import Budget, Json, Limit, Money, OrderState, TaskOrder, Usage
from runtime.engine.fold import apply
from runtime.engine.happened import Foreseen
from runtime.engine.view import OrderView
from runtime.ledger.store import SqlStore
from runtime.model.port import Bounded
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import calls, done, says
from tests.fakes.openai_server.fixture import openai_server
from tests.fakes.openai_server.script import Reply, bad_request, cut, fails, hangs_up, held, stalls, streamed, too_many
from tests.fakes.openai_server.server import OpenAIServer
from tests.runtime.engine.react.over_http import MOST_TOKENS, asking

__all__ = ["openai_server"]
pytestmark = pytest.mark.anyio
THINK: dict[str, Any] = {"id": "think", "react": "How many?", "tools": ["look"], "gives": {"n": "integer"}}
LOST = ("model.unreachable", "model.stopped")


@pytest.fixture
async def world(sqlite_store: SqlStore, clock: HandClock, openai_server: OpenAIServer) -> AsyncIterator[World]:
    look = Tool("look", lambda a, c: {"late": 3})
    async with asking(sqlite_store, clock, openai_server.base_url, look) as made:
        yield made


async def lost(world: World, order: TaskOrder) -> list[Mapping[str, Json]]:
    """Return what the ledger says of requests that no answer came to."""
    events = await world.store.ledger.read(str(order.order_id))
    return [event.data or {} for event in events if event.type in LOST]


def tokens(usage: Any) -> int:
    return Usage.read(usage).tokens_in + Usage.read(usage).tokens_out


FAULTS = {
    "cut": cut(says("a b c d")),
    "gone at once": hangs_up(),
    "fallen over": fails(500),
    "away": fails(503),
    "a fault in its stream": streamed({"error": {"message": "overloaded"}}),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_what_may_have_been_charged_is_counted_at_its_worst(
    world: World, openai_server: OpenAIServer, fault: Reply
) -> None:
    openai_server.plays(fault, done(n=1))
    order = world.order(THINK)
    report = await world.run(order)

    (event,) = await lost(world, order)
    assert report.state is OrderState.DONE and event["worst_case"] is True
    assert Usage.read(event["usage"]).tokens_out == MOST_TOKENS
    assert Usage.read(event["usage"]).tokens_in + 10 == report.usage.tokens_in
    assert Usage.read(event["usage"]).seconds > 0


async def test_what_is_counted_is_what_was_set_aside(world: World, openai_server: OpenAIServer) -> None:
    openai_server.plays(fails(500), done(n=1))
    order = world.order(THINK)
    told: list[Usage] = []
    model: Any = world.model
    assert isinstance(model, Bounded)
    most = model.most
    model.most = lambda request: told.append(most(request)) or told[-1]
    await world.run(order)

    (event,) = await lost(world, order)
    assert tokens(event["usage"]) == told[0].tokens_in + told[0].tokens_out


async def test_the_last_fault_before_the_step_is_given_up_counts_as_well(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = fails(500)
    order = world.order({**THINK, "retries": 1})
    report = await world.run(order)

    events = await lost(world, order)
    assert report.error is not None and report.error.code == "NETWORK_FAULT"
    assert [event["worst_case"] for event in events] == [True, True]
    assert report.usage.tokens_out == 2 * MOST_TOKENS


async def test_an_endpoint_that_hangs_is_counted_though_it_is_not_asked_again(
    sqlite_store: SqlStore, clock: HandClock, openai_server: OpenAIServer
) -> None:
    openai_server.plays(stalls(says("a b c d")))
    async with asking(sqlite_store, clock, openai_server.base_url, stalled_s=0.3) as world:
        report = await world.run(world.order({**THINK, "tools": []}))

    assert report.error is not None and report.error.code == "LLM_STALLED"
    assert report.usage.tokens_out == MOST_TOKENS and report.usage.seconds >= 0.3


async def test_what_took_longer_than_the_step_may_is_counted(world: World, openai_server: OpenAIServer) -> None:
    openai_server.plays(held(done(n=1)))
    report = await world.run(world.order({**THINK, "timeout_s": 0.1}))

    assert report.error is not None and report.error.code == "CAPABILITY_TIMEOUT"
    assert report.usage.tokens_out == MOST_TOKENS


async def test_a_request_that_a_cancel_stops_is_counted(world: World, openai_server: OpenAIServer) -> None:
    openai_server.plays(held(done(n=1)))
    order = world.order(THINK)
    running = asyncio.create_task(world.run(order))
    await openai_server.until(lambda: openai_server.count() == 1)
    world.cancelled = True
    report = await running

    assert (await world.kinds(order)).count("model.stopped") == 1
    assert (report.state, report.usage.tokens_out) == (OrderState.CANCELLED, MOST_TOKENS)


async def test_a_request_that_ends_with_its_process_in_good_order_is_counted(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.plays(held(done(n=1)), done(n=1))
    order = world.order(THINK)
    running = asyncio.create_task(world.run(order))
    await openai_server.until(lambda: openai_server.count() == 1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    report = await world.run(order)

    (event,) = await lost(world, order)
    assert event["worst_case"] is True
    assert report.state is OrderState.DONE and report.usage.tokens_out > MOST_TOKENS


async def test_a_budget_of_no_money_ends_nothing_that_costs_none(world: World, openai_server: OpenAIServer) -> None:
    model: Any = world.model
    model.price_fault = lambda role: None
    openai_server.plays(fails(500), done(n=1))
    report = await world.run(world.order(THINK, budget=Budget(money=Money.parse("0 USD"))))

    assert report.state is OrderState.DONE and len(world.waits) == 1


async def test_a_limit_ends_the_loop_before_the_wait_for_the_next_try(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = fails(500)
    await world.run(world.order(THINK, budget=Budget(seconds=0.0011)))

    assert world.waits == []


async def test_where_nothing_was_sent_no_tokens_count(sqlite_store: SqlStore, clock: HandClock) -> None:
    with socket.socket() as nobody:  # bound and not listening: connections are refused
        nobody.bind(("127.0.0.1", 0))
        async with asking(sqlite_store, clock, f"http://127.0.0.1:{nobody.getsockname()[1]}/v1") as world:
            order = world.order({**THINK, "tools": []})
            report = await world.run(order)

    events = await lost(world, order)
    assert report.error is not None and "cannot be reached" in report.error.message
    assert [tokens(event["usage"]) for event in events] == [0, 0, 0, 0]
    assert all(Usage.read(event["usage"]).seconds > 0 and "worst_case" not in event for event in events)


async def test_whoever_turns_away_charges_nothing(world: World, openai_server: OpenAIServer) -> None:
    openai_server.plays(too_many(0), bad_request())
    order = world.order(THINK)
    report = await world.run(order)

    (event,) = await lost(world, order)
    assert report.error is not None and report.error.code == "MODEL_REFUSED"
    assert tokens(event["usage"]) == report.usage.tokens_in + report.usage.tokens_out == 0


async def test_a_budget_of_tokens_ends_a_loop_of_faults(world: World, openai_server: OpenAIServer) -> None:
    openai_server.otherwise = fails(500)
    order = world.order({**THINK, "retries": 10})
    once = await world.run(world.order({**THINK, "retries": 0}))
    of_one = once.usage.tokens_in + once.usage.tokens_out
    asked = openai_server.count()
    report = await world.run(order.model_copy(update={"budget": Budget(tokens=int(of_one * 2.5))}))

    assert report.state is OrderState.PARTIAL and report.asks is not None
    assert report.asks.limit is Limit.TOKENS and openai_server.count() - asked == 2
    assert report.usage.tokens_in + report.usage.tokens_out <= of_one * 2.5


async def test_twenty_branches_with_tokens_for_three_requests_make_three(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = fails(500)
    once = await world.run(world.order({**THINK, "id": "b00", "retries": 0}))
    budget = Budget(tokens=int((once.usage.tokens_in + once.usage.tokens_out) * 3.5))
    asked = openai_server.count()
    branches = [{**THINK, "id": f"b{number:02}"} for number in range(20)]
    report = await world.run(world.order({"id": "all", "parallel": branches}, budget=budget))

    assert report.asks is not None and report.asks.limit is Limit.TOKENS
    assert openai_server.count() - asked == 3
    assert budget.tokens is not None and report.usage.tokens_in + report.usage.tokens_out <= budget.tokens


async def test_a_budget_of_seconds_ends_a_loop_of_faults(world: World, openai_server: OpenAIServer) -> None:
    openai_server.otherwise = fails(500)
    report = await world.run(world.order({**THINK, "retries": 10}, budget=Budget(seconds=0.0011)))

    assert report.state is OrderState.PARTIAL and report.asks is not None
    assert report.asks.limit is Limit.SECONDS and openai_server.count() == 1


async def test_a_budget_of_seconds_ends_a_conversation_that_goes_on_and_on(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = lambda asked: calls(("look", {"at": asked.number}))
    report = await world.run(world.order(THINK, budget=Budget(seconds=0.0011)))

    assert report.state is OrderState.PARTIAL and report.asks is not None
    assert report.asks.limit is Limit.SECONDS and openai_server.count() == 1


async def test_with_more_seconds_the_conversation_goes_on(world: World, openai_server: OpenAIServer) -> None:
    openai_server.plays(calls(("look", {})), done(n=1))
    order = world.order(THINK, budget=Budget(seconds=0.0011))
    await world.run(order)
    world.reopen = True
    report = await world.run(order.model_copy(update={"budget": Budget(seconds=60)}))

    assert (report.state, openai_server.count()) == (OrderState.DONE, 2)


async def test_the_share_of_a_step_in_seconds_bounds_its_conversation(
    world: World, openai_server: OpenAIServer
) -> None:
    openai_server.otherwise = lambda asked: calls(("look", {"at": asked.number}))
    report = await world.run(world.order({**THINK, "budget": {"seconds": 0.001}}))

    assert report.state is OrderState.PARTIAL and report.asks is not None
    assert report.asks.limit is Limit.SECONDS and openai_server.count() == 1


async def test_a_fault_of_an_older_ledger_still_reads(clock: HandClock) -> None:
    view = OrderView()
    problem = {"code": "NETWORK_FAULT", "category": "network", "message": "It was away."}
    apply(view, Foreseen("model.unreachable", {"step": "think", "index": None, "problem": problem}, clock.now(), 1))

    talk = view.unit("think").react
    assert talk is not None and talk.unreachable == 1
    assert view.usage == Usage()
