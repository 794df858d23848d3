from __future__ import annotations

import asyncio
import json
from typing import Any

import jsonpath
import pytest

from contracts import DataProduct, ExecutionId, OrderState, PlanDefinition, Tier
from runtime.canonical import sha256
from runtime.capabilities.port import CallResult
from runtime.engine.fold import fold_order
from runtime.engine.recall import outputs_of
from runtime.errors import BusinessRefusal
from runtime.ledger.port import Store
from tests.agents.employee.staff import FakeNode, FakeStaff, department, explain
from tests.agents.workforce.company import AskOnce, Company
from tests.fakes.clock import HandClock
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio

BRACES = "{{ origin }} costs {% 5 %}"
EXPLAIN = {
    "parameters": {"at": {"type": "date-time"}, "origin": {"type": "string"}},
    "steps": [
        {"id": "measure", "by": "analyst", "use": "flights.query", "with": {"text": "{{ origin }}"}},
        {"id": "say", "by": "analyst", "use": "echo", "with": {"text": "{{ measure.text[1].carrier }}"},
         "accept": ["text != 'OO'"]},
    ],
    "gives": {"worst": "{{ say.text }}", "asked": "{{ origin }}", "at": "{{ at }}"},
}  # fmt: skip


def company(store: Store, clock: HandClock, plan: Any = EXPLAIN, **answers: Any) -> Company:
    return Company(department(PlanDefinition.model_validate(plan)), store, clock, answers)


async def test_a_goal_goes_down_the_chain_of_command_and_its_output_comes_up(
    sqlite_store: Store, clock: HandClock
) -> None:
    firm = company(sqlite_store, clock)
    report = await firm.ask("explain", parameters={"origin": "EWR"})
    assert report.error is None
    assert report.output == {"worst": "EV", "asked": "EWR", "at": "2013-02-08T17:00:00"}
    orders = await firm.orders()
    assert [order.employee for order in orders] == ["head", "middle", "desk", "analyst", "analyst"]
    assert [above.employee for above in orders[3].chain] == ["head", "middle", "desk"]
    assert firm.workforce.awake == ("head", "middle", "desk", "analyst")


async def test_only_work_that_needs_a_slot_goes_to_the_cluster(sqlite_store: Store, clock: HandClock) -> None:
    firm = company(sqlite_store, clock)
    await firm.ask("explain", parameters={"origin": "EWR"})
    assert [(order.employee, order.tier) for order in firm.submitted] == [("analyst", Tier.EXECUTION)]


async def test_data_with_braces_reaches_the_worker_as_it_was_given(sqlite_store: Store, clock: HandClock) -> None:
    plan = explain(steps=[{"id": "say", "by": "analyst", "use": "echo", "with": {"text": "{{ origin }}"}}])
    report = await company(sqlite_store, clock, plan).ask("explain", parameters={"origin": BRACES})
    assert report.output == {"text": BRACES}


async def test_a_result_that_is_not_accepted_is_tried_again_with_what_was_learnt(
    sqlite_store: Store, clock: HandClock
) -> None:
    seen: list[Any] = []

    def improving(arguments: Any, context: Any) -> Any:
        seen.append(context.order.context.get("learnt"))
        return CallResult({"text": "OO" if len(seen) == 1 else "UA"})

    report = await company(sqlite_store, clock, echo=improving).ask("explain", parameters={"origin": "EWR"})
    assert (report.state, report.output["worst"]) == (OrderState.DONE, "UA")  # type: ignore[index]
    assert seen[0] is None
    assert "`text != 'OO'`" in seen[1]


async def test_what_is_never_accepted_is_tried_twice_and_not_once_more_on_every_level(
    sqlite_store: Store, clock: HandClock
) -> None:
    calls: list[Any] = []

    def stubborn(arguments: Any, context: Any) -> Any:
        calls.append(context.order.order_id)
        return CallResult({"text": "OO"})

    report = await company(sqlite_store, clock, echo=stubborn).ask("explain", parameters={"origin": "EWR"})
    assert report.error is not None
    assert (report.error.code, len(calls)) == ("NOT_ACCEPTED", 2)


async def test_the_other_way_is_done_by_whoever_does_the_step(sqlite_store: Store, clock: HandClock) -> None:
    def refuse(arguments: Any, context: Any) -> Any:
        raise BusinessRefusal("Closed.", happened="no")

    other = {"use": "echo", "with": {"text": "other"}}
    step = {"id": "ask", "by": "analyst", "use": "flights.query", "with": {"text": ""}, "otherwise": other}
    firm = company(sqlite_store, clock, {"steps": [step]}, **{"flights.query": refuse})

    report = await firm.ask("explain")

    assert report.output == {"text": "other"}
    assert [order.employee for order in await firm.orders()][-2:] == ["analyst", "analyst"]


WAIVE = {"id": "waive", "use": "desk.waive", "with": {"text": "all"}}


@pytest.mark.parametrize(
    "step",
    [
        WAIVE,
        {"id": "both", "parallel": [WAIVE, {"id": "say", "by": "analyst", "use": "echo", "with": {"text": ""}}]},
        {"id": "say", "by": "analyst", "use": "echo", "with": {"text": ""},
         "otherwise": {"by": "desk", "use": "desk.waive", "with": {"text": "all"}}},
    ],
)  # fmt: skip
async def test_a_manager_itself_does_nothing_that_it_may_not(
    sqlite_store: Store, clock: HandClock, step: dict[str, Any]
) -> None:
    done: list[Any] = []

    def waive(arguments: Any, context: Any) -> Any:
        done.append(arguments)
        return CallResult({"text": "waived"})

    def refuse(arguments: Any, context: Any) -> Any:
        raise BusinessRefusal("Closed.", happened="no")

    firm = company(sqlite_store, clock, {"steps": [step]}, **{"desk.waive": waive, "echo": refuse})

    report = await firm.ask("explain")

    assert report.error is not None
    assert (report.error.code, done) == ("PERMISSION_REFUSED", [])
    assert "desk may not use desk.waive" in report.error.message


async def test_a_plan_that_a_person_brings_gives_the_head_no_new_rights(sqlite_store: Store, clock: HandClock) -> None:
    firm = company(sqlite_store, clock)
    report = await firm.ask(None, plan={"steps": [WAIVE]})
    assert report.error is not None
    assert "head may not use desk.waive" in report.error.message
    assert firm.submitted == []


async def test_checks_on_the_whole_plan_fail_the_order_that_misses_them(sqlite_store: Store, clock: HandClock) -> None:
    firm = company(sqlite_store, clock, {**EXPLAIN, "accept": ["measure.text.size() > 2"]})
    report = await firm.ask("explain", parameters={"origin": "EWR"})
    assert report.error is not None
    assert report.state is OrderState.FAILED
    assert "measure.text.size() > 2" in report.error.message


async def test_a_missing_parameter_fails_before_anything_runs(sqlite_store: Store, clock: HandClock) -> None:
    firm = company(sqlite_store, clock)
    report = await firm.ask("explain")
    assert report.error is not None
    assert "--with origin=value" in report.error.message
    assert not await firm.orders()


async def test_an_execution_that_waited_goes_on_and_repeats_nothing(sqlite_store: Store, clock: HandClock) -> None:
    ask = AskOnce()
    firm = company(sqlite_store, clock, echo=ask)
    waiting = await firm.ask("explain", parameters={"origin": "EWR"})
    assert waiting.state is OrderState.WAITING
    assert len(waiting.waiting_for) == 1
    (execution,) = await sqlite_store.ledger.streams("execution")
    again = company(sqlite_store, clock, echo=ask)
    report = await again.executor.run(ExecutionId(execution))
    assert report.state is OrderState.DONE
    assert (ask.calls, again.submitted, len(await again.orders())) == (2, [], 5)


async def test_two_organisations_in_one_process_do_not_see_each_other(sqlite_store: Store, clock: HandClock) -> None:
    one = company(sqlite_store, clock)
    plan = PlanDefinition.model_validate(
        {"steps": [{"id": "s", "by": "clerk", "use": "echo", "with": {"text": "two"}}]}
    )
    head = FakeNode("head", skills=("explain",), manages=(FakeNode("clerk", can=("echo",)),))
    skills = {"explain": type(one.staff.skills["explain"])("explain", plan)}
    two = Company(FakeStaff(head, skills, name="other"), sqlite_store, clock)
    first, second = await asyncio.gather(one.ask("explain", parameters={"origin": "EWR"}), two.ask("explain"))
    assert (first.output["worst"], second.output) == ("EV", {"text": "two"})  # type: ignore[index]
    assert set(two.workforce.awake) == {"head", "clerk"}


async def test_another_organisations_request_is_refused(sqlite_store: Store, clock: HandClock) -> None:
    report = await company(sqlite_store, clock).ask("explain", organisation="other")
    assert report.error is not None
    assert "does no work for other" in report.error.message


async def test_each_number_of_a_report_is_found_again_in_the_ledger(sqlite_store: Store, clock: HandClock) -> None:
    template = {"file": "report.md.j2", "text": "{{ m.text[1].cancelled }} {{ m.text | sum(attribute='cancelled') }}"}
    write = {"id": "write", "use": "report", "with": {"template": template, "title": "T", "m": "{{ measure }}"}}
    steps = [EXPLAIN["steps"][0], write]  # type: ignore[index]
    report = await company(sqlite_store, clock, explain(steps=steps)).ask("explain", parameters={"origin": "EWR"})
    assert report.error is None
    product = await _product(sqlite_store)
    found = await _outputs(sqlite_store)
    assert [(source.path, source.value) for source in product.sources] == [
        ("text[1].cancelled", 13), ("text[0].cancelled", 7), ("text[1].cancelled", 13)
    ]  # fmt: skip
    for source in product.sources:
        output = found[source.step]
        assert jsonpath.findall(f"$.{source.path}", output) == [source.value]
        assert sha256(output) == source.result_sha256
        assert (source.query_sha256, source.data_sha256) == (sha256("select"), sha256("flights"))
    markdown = await sqlite_store.blobs.get(product.artifacts[0].sha256)
    assert markdown.startswith(b"13[^1] 20[^2]\n")


async def _product(store: Store) -> DataProduct:
    events = await store.ledger.read_all(limit=10_000)
    (made,) = [event.data for event in events if event.type == "product.made"]
    assert made is not None
    return DataProduct.read(json.loads(json.dumps(made["product"])))


async def _outputs(store: Store) -> dict[str, Any]:
    """employee/step → output, as a reader of the ledger finds them."""
    found = {}
    for stream in await store.ledger.streams("order"):
        view = fold_order(await store.ledger.read(stream))
        assert view.order is not None
        outputs = await outputs_of(view, store.blobs)
        found |= {f"{view.order.employee}/{step}": output for step, output in outputs.items()}
    return found
