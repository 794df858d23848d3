"""The durable half of a conversation: nothing asked, called or decided twice, wherever the process stops."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest

from contracts import Budget, Effect, OrderState, PlanDefinition, QuestionId
from runtime.capabilities.blackboard import WriteBlackboard
from runtime.capabilities.port import CallContext, Waiting
from runtime.draining import Draining, Steps
from runtime.errors import EffectInDoubt
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.fakes.engine_world import Tool, with_store
from tests.fakes.model import ScriptedModel, calls, control, done
from tests.runtime.engine.react.talking import THINK, a_world, paying, played

pytestmark = pytest.mark.anyio


async def test_of_three_calls_that_wait_for_approval_exactly_the_approved_one_runs_with_its_own_arguments(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D2: reject 1 and 3, approve 2; every call comes from the model under the same id."""
    world = a_world(sqlite_store, clock, paying("ann", "bob", "cid"), done(n=1))
    world.gate.ask = True
    order = world.order(THINK)
    waiting = await world.run(order)
    for card, request in world.gate.cards.items():
        world.gate.decide(card, request.arguments == {"to": "bob"})

    report = await world.run(order)

    assert len(waiting.waiting_for) == len(world.gate.cards) == 3
    assert world.tools["pay"].calls == [{"to": "bob"}]
    assert report.state is OrderState.DONE and played(world).asked == {0: 1, 1: 1}
    told = [message["content"] for message in played(world).requests[-1].messages if message["role"] == "tool"]
    assert ["DENIED" in each for each in told] == [True, False, True]


async def test_cards_decided_one_by_one_let_one_call_after_the_other_go(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, paying("ann", "bob", "cid"), done(n=1))
    world.gate.ask = True
    order = world.order(THINK)
    open_cards = (await world.run(order)).waiting_for
    for left, card in zip((2, 1, 0), reversed(open_cards), strict=True):
        world.gate.decide(card, True)  # type: ignore[arg-type]
        report = await world.run(order)
        assert len(report.waiting_for) == left and len(world.tools["pay"].calls) == 3 - left

    assert report.state is OrderState.DONE and len(world.gate.cards) == 3
    assert world.tools["pay"].calls == [{"to": "cid"}, {"to": "bob"}, {"to": "ann"}]
    assert (await world.kinds(order)).count("step.waiting") == 1 + 2


async def test_six_pending_calls_are_begun_six_times_in_all_however_their_results_come(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    """D7: results one by one, out of order, one twice."""
    begun: list[object] = []
    answers: dict[str, Any] = {}

    def look(arguments: Any, context: CallContext) -> Any:
        if not context.pending:
            begun.append(arguments["at"])
            return Waiting((QuestionId.new(),))
        given = answers.get(context.pending[0])
        return Waiting(context.pending) if given is None else {"seen": given}

    world = a_world(sqlite_store, clock, calls(*(("look", {"at": n}) for n in range(6))), done(n=6), look=look)
    order = world.order(THINK)
    waiting = await world.run(order)
    for number in (3, 0, 3, 5, 1, 4, 2):
        answers[waiting.waiting_for[number]] = number
        report = await world.run(order)

    assert sorted(begun) == list(range(6))  # type: ignore[type-var]
    assert (report.state, played(world).asked) == (OrderState.DONE, {0: 1, 1: 1})
    assert (await world.kinds(order)).count("call.finished") == 6


async def test_calls_of_one_answer_run_in_chunks_of_five(sqlite_store: SqlStore, clock: HandClock) -> None:
    running, most, full = 0, 0, asyncio.Event()

    async def look(arguments: Any, context: Any) -> dict[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 5:
            full.set()
        await asyncio.wait_for(full.wait(), 60)
        running -= 1
        return {}

    world = a_world(sqlite_store, clock, calls(*(("look", {"at": n}) for n in range(12))), done(n=1), look=look)

    assert (await world.run(world.order(THINK))).state is OrderState.DONE
    assert (most, len(world.tools["look"].calls)) == (5, 12)


MIXED = (
    calls(("look", {"at": 1}), ("pay", {"to": "ann"}), ("look", {"at": 1}), content="First I look."),
    calls(("lock", {}), ("pay", {"to": "ann"}), ("pay", {"to": "bob"})),
    control("done", output={"n": "two"}),
    calls(("look", {"at": 2})),
    done(n=2),
)


@pytest.mark.parametrize("can_look_up", [True, False])
@pytest.mark.timeout(120)
async def test_wherever_the_process_dies_the_conversation_goes_on_as_if_it_had_not(
    sqlite_store: SqlStore, clock: HandClock, can_look_up: bool
) -> None:
    whole = a_world(sqlite_store, clock, *MIXED, can_look_up=can_look_up)
    expected = await whole.run(whole.order(THINK))
    assert expected.state is OrderState.DONE
    doubts, deaths = 0, 0
    for at in count():
        for committed in (False, True):
            store = CrashingStore(sqlite_store, at, committed=committed)
            world = a_world(store, clock, *MIXED, can_look_up=can_look_up)
            order = world.order(THINK)
            try:
                await world.run(order)
            except Crash:
                deaths += 1
            else:
                assert deaths > 20 and (doubts > 0) is not can_look_up
                return
            report = await with_store(world, sqlite_store).run(order)  # type: ignore[arg-type]
            for card, request in world.gate.doubts.items():
                doubts += 1
                world.gate.decide(card, request.key in world.tools["pay"].keys)
            report = await world.run(order)

            assert (report.state, report.output) == (OrderState.DONE, expected.output), (at, committed)
            assert set(world.tools["pay"].keys.values()) == {1} and len(world.tools["pay"].keys) == 2
            assert sum(played(world).asked.values()) <= len(MIXED) + (not committed)
            assert hashes(await world.store.ledger.read(str(order.order_id))) == len(MIXED)


def hashes(events: Any) -> int:
    """Return how many answers are recorded, each once and with the hash of its request."""
    answered = [event.data for event in events if event.type == "model.answered"]
    assert [data["answer"] for data in answered] == list(range(1, len(answered) + 1))
    return len({data["request_sha256"] for data in answered})


async def test_a_request_is_the_same_after_a_stop_as_without_one(sqlite_store: SqlStore, clock: HandClock) -> None:
    """What a replay goes by: the hash of each request, the whole answer, each result."""
    found = []
    for dies in (None, 4):
        store: Any = sqlite_store if dies is None else CrashingStore(sqlite_store, dies)
        world = a_world(store, clock, *MIXED)
        order = world.order(THINK)
        if dies is not None:
            with pytest.raises(Crash):
                await world.run(order)
            world.store = sqlite_store
        await world.run(order)
        events = await sqlite_store.ledger.read(str(order.order_id))
        found.append([e.data["request_sha256"] for e in events if e.type == "model.answered" and e.data])

    assert found[0] == found[1]


async def test_a_pause_deep_in_the_tree_repeats_nothing_at_any_depth(sqlite_store: SqlStore, clock: HandClock) -> None:
    """D3: head → manager → worker; the worker's model waits for an approval, and the process ends."""
    world = a_world(sqlite_store, clock, calls(("look", {"at": 1}), ("pay", {"to": "ann"})), done(n=1))
    world.gate.ask = True
    before = {"id": "before", "use": "look", "with": {"at": "{{ at }}"}}
    at = {"at": {"type": "string"}}
    thinks = {**THINK, "after": ["before"]}
    world.skills["work"] = PlanDefinition.model_validate({"parameters": at, "steps": [before, thinks]})
    passes = {"id": "on", "by": "worker", "skill": "work", "with": {"at": "worker"}, "after": ["before"]}
    world.skills["manage"] = PlanDefinition.model_validate({"parameters": at, "steps": [before, passes]})
    first = {**before, "with": {"at": "head"}}
    order = world.order(first, {**passes, "by": "manager", "skill": "manage", "with": {"at": "manager"}})
    waiting = await world.run(order)
    world.gate.decide(waiting.waiting_for[0], True)  # type: ignore[arg-type]

    report = await world.run(order)

    assert (waiting.state, report.state, report.output) == (OrderState.WAITING, OrderState.DONE, {"n": 1})
    assert [call["at"] for call in world.tools["look"].calls] == ["head", "manager", "worker", 1]
    assert len(world.tools["pay"].calls) == 1 and played(world).asked == {0: 1, 1: 1}


async def test_two_questions_of_the_model_are_answered_one_by_one(sqlite_store: SqlStore, clock: HandClock) -> None:
    """D1: nothing before them runs again, and each answer reaches its own question."""
    asks = calls(
        ("look", {"at": 1}),
        ("step_control", {"say": "need_input", "question": "Which day?"}),
        ("step_control", {"say": "need_input", "question": "Which town?"}),
    )
    world = a_world(sqlite_store, clock, asks, done(n=1))
    order = world.order(THINK)
    day, town = (await world.run(order)).waiting_for
    await world.answer(town, "Bonn")
    left = (await world.run(order)).waiting_for
    await world.answer(day, "Friday")

    report = await world.run(order)

    assert left == (day,) and report.state is OrderState.DONE
    told = [message["content"] for message in played(world).requests[-1].messages if message["role"] == "tool"]
    assert told[1:] == ['{"answer":"Friday"}', '{"answer":"Bonn"}']
    assert len(world.tools["look"].calls) == 1 and played(world).asked[0] == 1


async def test_an_effect_whose_answer_is_lost_waits_for_a_person_and_is_never_told_as_failed(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, paying("ann"), done(n=1))
    world.tools["pay"] = Tool("pay", lambda a, c: ValueError("odd"), Effect.WRITE)
    order = world.order(THINK)
    waiting = await world.run(order)
    (card,) = waiting.waiting_for
    again = await world.run(order)
    world.gate.decide(card, True)  # type: ignore[arg-type]

    report = await world.run(order)

    assert (again.waiting_for, report.state) == ((card,), OrderState.DONE)
    assert len(world.tools["pay"].calls) == 1
    told = [message["content"] for message in played(world).requests[-1].messages if message["role"] == "tool"]
    assert told == ['{"confirmed_by_person":true}']


async def test_a_doubt_that_nobody_settles_fails_the_step_and_stays_a_doubt_when_it_is_reopened(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, calls(("pay", {"to": "ann"}), ("look", {"at": 1})), done(n=1))
    world.tools["pay"] = Tool("pay", lambda a, c: ValueError("odd"), Effect.WRITE)
    order = world.order({**THINK, "otherwise": {"use": "look"}})
    settle, world.gate.in_doubt = world.gate.in_doubt, nobody_knows  # type: ignore[method-assign]
    failed = await world.run(order)
    world.gate.in_doubt, world.reopen = settle, True  # type: ignore[method-assign]
    (card,) = (await world.run(order)).waiting_for
    world.gate.decide(card, True)  # type: ignore[arg-type]

    report = await world.run(order)

    assert failed.error is not None and (failed.state, failed.error.code) == (OrderState.FAILED, "EFFECT_IN_DOUBT")
    assert (report.state, report.output) == (OrderState.DONE, {"n": 1})
    assert len(world.tools["pay"].calls) == len(world.tools["look"].calls) == 1
    assert played(world).asked == {0: 1, 1: 1}


async def nobody_knows(request: object) -> bool:
    raise EffectInDoubt("Nobody knows.")


async def test_a_model_is_asked_no_more_when_the_budget_is_used_up_and_goes_on_with_a_larger_one(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, calls(("look", {"at": 1})), calls(("look", {"at": 2})), done(n=1))
    order = world.order(THINK, budget=Budget(tokens=20))
    partial = await world.run(order)
    world.reopen = True

    report = await world.run(order.model_copy(update={"budget": Budget(tokens=1_000)}))

    assert partial.state is OrderState.PARTIAL and partial.error is not None
    assert partial.error.facts["limit"] == "tokens"
    assert (report.state, played(world).asked) == (OrderState.DONE, {0: 1, 1: 1, 2: 1})


async def test_an_effect_beside_a_read_keeps_its_grace_when_the_execution_is_cancelled(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    begun, seen = asyncio.Event(), asyncio.Event()

    async def look(arguments: Any, context: Any) -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        finally:
            seen.set()
        return {}

    async def pay(arguments: Any, context: Any) -> dict[str, Any]:
        begun.set()
        await asyncio.wait_for(seen.wait(), 60)
        return {"paid": 1}

    world = a_world(sqlite_store, clock, calls(("look", {}), ("pay", {"to": "ann"})), look=look)
    world.tools["pay"], world.grace_s = Tool("pay", pay, Effect.WRITE), 5.0
    order = world.order(THINK)
    running = asyncio.ensure_future(world.run(order))
    await asyncio.wait_for(begun.wait(), 60)
    world.cancelled = True

    report = await asyncio.wait_for(running, 60)

    assert report.state is OrderState.CANCELLED
    assert (await world.kinds(order)).count("call.finished") == 1, "the effect ended, and its receipt is kept"


async def test_a_process_that_drains_asks_and_calls_nothing_more_and_another_goes_on(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    draining = Draining()
    six = calls(*(("look", {"at": n}) for n in range(6)))
    world = a_world(sqlite_store, clock, six, done(n=1), look=lambda a, c: draining.begin() or {})
    world.steps = Steps(draining)
    order = world.order(THINK)
    running = asyncio.ensure_future(world.run(order))
    async with asyncio.timeout(60):
        while not world.steps.parked:
            draining.changed.clear()
            await draining.changed.wait()
    running.cancel()
    await asyncio.wait([running])
    begun = len(world.tools["look"].calls)
    world.steps = None

    assert (await world.run(order)).state is OrderState.DONE
    assert (begun, len(world.tools["look"].calls), played(world).asked) == (5, 6, {0: 1, 1: 1})


async def test_calls_that_write_one_blackboard_key_at_once_all_write_it(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    writes = [("blackboard_write", {"key": "best", "value": n}) for n in range(5)]
    world = a_world(sqlite_store, clock, calls(*writes), done(n=1))
    world.tools["blackboard.write"] = WriteBlackboard()  # type: ignore[assignment]

    report = await world.run(world.order({**THINK, "tools": ["blackboard.write"]}))

    written = await sqlite_store.ledger.read(f"blackboard/{world.execution_id.ulid}/best")
    assert report.state is OrderState.DONE
    assert sorted(event.data["value"] for event in written if event.data) == list(range(5))  # type: ignore[type-var]


async def test_a_call_that_names_a_version_that_is_gone_is_told_so(sqlite_store: SqlStore, clock: HandClock) -> None:
    writes = [("blackboard_write", {"key": "best", "value": n, "expected_version": 0}) for n in range(2)]
    world = a_world(sqlite_store, clock, calls(*writes), done(n=1))
    world.tools["blackboard.write"] = WriteBlackboard()  # type: ignore[assignment]

    assert (await world.run(world.order({**THINK, "tools": ["blackboard.write"]}))).state is OrderState.DONE
    told = [m["content"] for m in played(world).requests[-1].messages if m["role"] == "tool"]
    assert sorted("VERSION_CONFLICT" in each for each in told) == [False, True]


async def test_a_second_run_counts_anew(sqlite_store: SqlStore, clock: HandClock) -> None:
    """D9: nothing of one run's counters is left in the next of the same process."""
    for _ in range(2):
        world = a_world(sqlite_store, clock)
        world.model = ScriptedModel(*(calls(("look", {"at": n})) for n in range(9)), done(n=9))
        assert (await world.run(world.order(THINK))).state is OrderState.DONE


async def test_a_conversation_of_each_item_has_its_own_counters_ids_and_keys(
    sqlite_store: SqlStore, clock: HandClock
) -> None:
    world = a_world(sqlite_store, clock, calls(("pay", {"to": "ann"})), done(n=1))
    world.tools["list"] = Tool("list", lambda a, c: {"rows": [1, 2, 3]})
    step = {**THINK, "for_each": "{{ list.rows }}", "react": "Pay for {{ item }}"}

    report = await world.run(world.order({"id": "list", "use": "list"}, step))

    assert report.output == [{"n": 1}] * 3
    assert len(world.tools["pay"].keys) == 3, "three items are three pieces of work, however alike"
