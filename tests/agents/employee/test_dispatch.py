from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.employee.dispatch import Dispatcher
from agents.employee.report import SPEC
from contracts import Alternative, Effect, Json, PlanDefinition, Step, TaskOrder, Tier, Workspace
from runtime.bindings import resolve
from runtime.capabilities.placing import BRIDGED
from runtime.capabilities.port import CapabilitySpec
from runtime.errors import InvalidArguments, NotFound, PermissionRefused
from tests.agents.employee.staff import (
    NO_STORE,
    SPECS,
    FakeClock,
    FakeNode,
    FakeSkill,
    FakeStaff,
    Recorder,
    department,
    dispatcher,
    order,
    spec,
)


def child(step: Step, arguments: dict[str, Json], parent: TaskOrder | None = None, **more: Any) -> TaskOrder:
    learnt = more.get("learnt")
    return dispatcher().order_for(parent or order(), step, arguments, index=None, learnt=learnt)


def bound(given: TaskOrder) -> Json:
    """The arguments of the order's one step as the engine fills them."""
    return resolve(dict(given.plan.steps[0].arguments), given.inputs)


def test_a_step_without_a_skill_becomes_an_order_of_one_step() -> None:
    sql = {"file": "cancelled.sql", "text": "select '{{ x }}'"}
    given = child(Step(id="measure", by="analyst", use="flights.query"), {"sql": sql, "at": "2013"})
    (step,) = given.plan.steps
    assert (given.employee, step.id, step.use, given.tier, given.labels) == (
        "analyst", "do", "flights.query", Tier.EXECUTION, ("data",)
    )  # fmt: skip
    assert bound(given) == {"sql": sql, "at": "2013"}


@pytest.mark.anyio
async def test_an_order_in_a_slot_wants_of_a_node_what_every_step_of_its_plan_wants() -> None:
    def specs(name: str, **more: object) -> CapabilitySpec:
        return spec(name, Tier.EXECUTION, **more)

    known = {
        "shell": specs("shell", needs=("network",)),
        "browser.read": specs("browser.read", labels=("browser",), needs=("network",)),
        "flights.query": SPECS["flights.query"],
    }
    plan = PlanDefinition(
        steps=(
            Step(id="page", use="browser.read"),
            Step(id="rows", use="shell", otherwise=Alternative(use="flights.query")),
        )
    )
    staff = FakeStaff(
        FakeNode("head", skills=("look",), can=tuple(known)), {"look": FakeSkill("look", plan, tier=Tier.EXECUTION)}
    )
    cluster = Recorder()
    given = order().model_copy(update={"employee": "head", "plan": plan, "tier": Tier.EXECUTION, "labels": ("own",)})

    handing = Dispatcher(staff, specs=known, workforce=Recorder(), cluster=cluster, store=NO_STORE, clock=FakeClock())
    await handing.carry_out(given)

    assert cluster.orders[0].labels == ("own", "browser", "data")
    assert cluster.orders[0].needs == ("network",)


@pytest.mark.anyio
async def test_an_order_for_a_sandbox_and_a_bridge_at_once_is_refused_before_it_is_queued() -> None:
    known = {
        "python": spec("python", Tier.EXECUTION, sandboxed=True),
        "arm.push": replace(spec("arm.push", Tier.EXECUTION), kind=BRIDGED),
    }
    plan = PlanDefinition(steps=(Step(id="push", use="arm.push"), Step(id="think", use="python")))
    staff = FakeStaff(FakeNode("head", can=tuple(known)), {})
    cluster = Recorder()
    given = order().model_copy(update={"employee": "head", "plan": plan, "tier": Tier.EXECUTION})

    handing = Dispatcher(staff, specs=known, workforce=Recorder(), cluster=cluster, store=NO_STORE, clock=FakeClock())
    report = await handing.carry_out(given)

    assert cluster.orders == []
    assert report.error is not None
    assert report.error.facts == {"sandboxed": ["python"], "bridged": ["arm.push"]}


def test_values_that_hold_braces_are_not_bound_again() -> None:
    arguments: dict[str, Json] = {"text": "{{ context.secret }}", "rows": [{"a": "{{ at }}"}], "sql": "{{ at }}"}
    assert bound(child(Step(id="s", by="analyst", use="flights.query"), arguments)) == arguments


def test_arguments_under_any_name_arrive_under_that_name() -> None:
    arguments: dict[str, Json] = {"do": 1, "item": 2, "Flight-No": 3, "context": 4, "": 5, "argument_0": 6}
    assert bound(child(Step(id="s", by="analyst", use="echo"), arguments)) == arguments


def test_what_the_parent_was_given_is_handed_on_and_not_widened() -> None:
    parent = order()
    given = child(Step(id="measure", by="analyst", use="echo"), {}, parent, learnt="no rows")
    for field in ("execution_id", "budget", "deadline", "knowledge_scope", "known_at", "language", "trace_id",
                  "requested_by", "approval_mode", "organisation"):  # fmt: skip
        assert getattr(given, field) == getattr(parent, field)
    assert given.order_id != parent.order_id
    assert given.issued_by == "desk"
    assert given.context == {"season": "winter", "learnt": "no rows"}
    assert [(above.order_id, above.employee, above.step) for above in given.chain] == [
        (parent.order_id, "desk", "measure")
    ]  # fmt: skip


def test_what_was_learnt_is_not_handed_further_down() -> None:
    assert child(Step(id="measure", by="analyst", use="echo"), {}).context == {"season": "winter"}


def test_nobody_outside_the_subtree_gets_an_order() -> None:
    with pytest.raises(InvalidArguments, match=r"at or below desk.*analyst"):
        child(Step(id="s", by="other-analyst", use="flights.query"), {})


def test_an_unknown_employee_is_told_with_the_nearest_id() -> None:
    with pytest.raises(InvalidArguments, match="Did you mean analyst"):
        child(Step(id="s", by="analist", use="flights.query"), {})


def test_who_cannot_use_a_capability_is_refused_with_who_can() -> None:
    with pytest.raises(PermissionRefused, match=r"notifier may not use flights\.query.*analyst and other-analyst can"):
        child(Step(id="s", by="notifier", use="flights.query"), {})


def test_an_unknown_capability_or_skill_is_told() -> None:
    with pytest.raises(NotFound, match="no capability"):
        child(Step(id="s", by="analyst", use="flights.guess"), {})
    with pytest.raises(NotFound, match="explain, oversee, review"):
        child(Step(id="s", by="analyst", skill="guess"), {})


def test_a_skill_brings_its_own_plan_with_every_parameter_filled() -> None:
    given = child(Step(id="s", by="desk", skill="explain"), {"origin": "JFK"}, order("middle"))
    assert given.plan == department().skills["explain"].plan
    assert given.inputs == {"at": "2013-02-08T17:00:00", "origin": "JFK"}
    assert given.skill == "explain"


def test_every_manager_on_the_way_holds_an_order() -> None:
    top = child(Step(id="s", by="middle", skill="explain"), {"origin": "{{ x }}"}, order("head"))
    (step,) = top.plan.steps
    assert (top.employee, top.skill, step.id, step.by, step.skill) == ("middle", None, "delegate", "desk", "explain")
    below = child(step, bound(top), top)  # type: ignore[arg-type]
    assert (below.employee, below.skill, below.inputs["origin"]) == ("desk", "explain", "{{ x }}")
    assert [above.employee for above in below.chain] == ["head", "middle"]


def test_missing_and_unknown_parameters_of_a_skill_are_named_together() -> None:
    with pytest.raises(InvalidArguments, match=r"(?s)- origin: Airport code.*- orgin: there is no.*origin\?"):
        child(Step(id="s", by="desk", skill="explain"), {"orgin": "JFK"})


def test_a_skill_that_nobody_below_has_is_refused_with_who_has_it() -> None:
    with pytest.raises(PermissionRefused, match="other-desk has it"):
        child(Step(id="s", by="analyst", skill="review"), {})


def test_an_order_without_a_name_is_a_nested_plan_of_the_employee() -> None:
    assert child(Step(id="s", skill="explain"), {"origin": "JFK"}).employee == "desk"


def test_a_decided_action_is_carried_out_exactly_as_it_was_shown() -> None:
    arguments: dict[str, Json] = {"flight": "UA1", "Reason": "{{ storm }}"}
    step = Step(id="act", by="notifier", use="desk.waive", effect=Effect.IRREVERSIBLE, arguments=arguments)
    given = child(step, arguments)
    (do,) = given.plan.steps
    assert (given.employee, do.use, do.effect, bound(given)) == (
        "notifier", "desk.waive", Effect.IRREVERSIBLE, arguments
    )  # fmt: skip


def test_retries_and_time_outs_of_the_step_hold_where_the_work_is_done() -> None:
    (do,) = child(Step(id="s", by="analyst", use="echo", retries=5, timeout_s=2.5), {}).plan.steps
    assert (do.retries, do.timeout_s) == (5, 2.5)


@pytest.mark.anyio
@pytest.mark.parametrize("tier", Tier)
async def test_work_that_needs_a_slot_goes_to_the_cluster(tier: Tier) -> None:
    workforce, cluster = Recorder(), Recorder()
    await dispatcher(workforce=workforce, cluster=cluster).carry_out(order(tier=tier))
    assert (len(workforce.orders), len(cluster.orders)) == ((0, 1) if tier is Tier.EXECUTION else (1, 0))


def test_cognitive_capabilities_of_the_program_are_everybodys() -> None:
    specs = {**SPECS, "report": SPEC}
    maker = Dispatcher(department(), specs=specs, workforce=Recorder(), cluster=Recorder(), store=NO_STORE,
                       clock=FakeClock())  # fmt: skip
    assert maker.order_for(order(), Step(id="s", by="notifier", use="report"), {}, index=None, learnt=None).employee


def test_an_order_for_a_slot_brings_the_workspace_of_its_employee_and_no_other_does() -> None:
    given = child(Step(id="s", by="analyst", use="flights.query"), {"sql": "select 1", "at": "2013"})
    assert given.workspace == Workspace(files=5)
    assert order().workspace is None
