"""O1: employees and skills that hand work round in a ring are stopped by code, long before a budget would stop them.

Orders go down the tree only, so a ring of employees is refused when it is planned; a ring of skills is stopped by the
counts of its chain, whatever tree it runs through.
"""

from __future__ import annotations

from typing import Any

import pytest

from contracts import Budget, OrderState, PlanDefinition, StatusReport
from runtime.ledger.port import Store
from runtime.settings.groups import EngineSettings
from tests.agents.employee.staff import FakeNode, FakeSkill, FakeStaff
from tests.agents.workforce.company import Company
from tests.fakes.clock import HandClock
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio
PLENTY = Budget(steps=10_000, seconds=100_000)


def skill(name: str, *steps: dict[str, Any]) -> FakeSkill:
    return FakeSkill(name, PlanDefinition.model_validate({"steps": steps}))


def line(*names: str, **of: Any) -> FakeNode:
    """Return employees in a line, each below the one before; `of` gives what each has."""
    first, *rest = names
    below = (line(*rest, **of),) if rest else ()
    return FakeNode(first, manages=below, can=("echo",), skills=of.get(first.replace("-", "_"), ()))


async def asked(store: Store, clock: HandClock, head: FakeNode, *skills: FakeSkill, **more: Any) -> StatusReport:
    staff = FakeStaff(head, {each.name: each for each in skills}, budget=PLENTY)
    firm = Company(staff, store, clock, **more)
    report = await firm.ask(skills[0].name)
    assert report.usage.steps == 0, "it was stopped before anything was spent"
    return report


@pytest.mark.parametrize("size", [2, 5])
async def test_a_ring_of_employees_is_refused_where_it_would_close(
    sqlite_store: Store, clock: HandClock, size: int
) -> None:
    names = [f"e{n}" for n in range(size)]
    having = {name: (f"s{n}",) for n, name in enumerate(names)}
    ring = [skill(f"s{n}", {"id": "on", "by": names[(n + 1) % size], "skill": f"s{(n + 1) % size}"})
            for n in range(size)]  # fmt: skip

    report = await asked(sqlite_store, clock, line(*names, **having), *ring)

    assert report.error is not None
    assert report.error.code == "PLAN_FAULTY"
    assert f"There is no employee e0 at or below e{size - 1}" in report.error.message
    assert len(await sqlite_store.ledger.streams("order")) < size + 1


async def test_an_employee_that_delegates_to_itself_is_stopped_by_the_depth_of_nested_plans(
    sqlite_store: Store, clock: HandClock
) -> None:
    first, second = (skill(one, {"id": "on", "by": "solo", "skill": other})
                     for one, other in (("one", "two"), ("two", "one")))  # fmt: skip

    report = await asked(sqlite_store, clock, FakeNode("solo", skills=("one", "two")), first, second)

    assert report.error is not None
    assert (report.error.code, report.error.facts["setting"]) == ("RECURSION_STOPPED", "engine.nesting_depth")
    assert "solo/one → solo/two" in report.error.message
    assert len(await sqlite_store.ledger.streams("order")) == 5


async def test_a_skill_that_calls_itself_is_stopped_at_the_third_time(sqlite_store: Store, clock: HandClock) -> None:
    again = skill("again", {"id": "on", "skill": "again"})

    report = await asked(sqlite_store, clock, FakeNode("solo", skills=("again",)), again)

    assert report.error is not None
    assert report.error.facts["setting"] == "engine.same_id_in_chain"


async def test_a_ring_of_five_skills_of_one_employee_is_stopped(sqlite_store: Store, clock: HandClock) -> None:
    ring = [skill(f"s{n}", {"id": "on", "skill": f"s{(n + 1) % 5}"}) for n in range(5)]

    report = await asked(sqlite_store, clock, FakeNode("solo", skills=[each.name for each in ring]), *ring)

    assert report.error is not None
    assert report.error.facts["setting"] == "engine.nesting_depth"


def deep(names: list[str]) -> tuple[FakeNode, list[FakeSkill]]:
    """Return a line of employees where each hands its work to the next, and the last one does it."""
    having = {name: (f"s{n}",) for n, name in enumerate(names)}
    handing = [skill(f"s{n}", {"id": "on", "by": below, "skill": f"s{n + 1}"}) for n, below in enumerate(names[1:])]
    last = skill(f"s{len(names) - 1}", {"id": "do", "use": "echo", "with": {"text": "deep"}})
    return line(*names, **having), [*handing, last]


async def test_a_chain_of_exactly_the_allowed_depth_works(sqlite_store: Store, clock: HandClock) -> None:
    head, skills = deep([f"e{n}" for n in range(5)])
    firm = Company(FakeStaff(head, {each.name: each for each in skills}, budget=PLENTY), sqlite_store, clock)

    report = await firm.ask("s0")

    assert (report.state, report.output) == (OrderState.DONE, {"text": "deep"})
    assert [order.issued_by for order in await firm.orders()] == ["ann", "e0", "e1", "e2", "e3"]


async def test_a_chain_one_level_deeper_is_stopped_before_its_last_order(sqlite_store: Store, clock: HandClock) -> None:
    head, skills = deep([f"e{n}" for n in range(6)])

    report = await asked(sqlite_store, clock, head, *skills)

    assert report.error is not None
    assert "e5 would stand on level 6 of employees, and 5 is the limit" in report.error.message
    assert len(await sqlite_store.ledger.streams("order")) == 4


async def test_nested_plans_of_one_employee_do_not_use_up_the_levels_of_the_tree(
    sqlite_store: Store, clock: HandClock
) -> None:
    """Each of three employees nests four plans: twelve orders in a chain on three levels."""
    names = ["e0", "e1", "e2"]
    skills, having = [], {}
    for level, name in enumerate(names):
        below = (
            {"by": names[level + 1], "skill": f"p{level + 1}x0"} if level < 2 else {"use": "echo", "with": {"text": ""}}
        )
        nested = [{"id": "on", "skill": f"p{level}x{n + 1}"} for n in range(3)]
        skills += [skill(f"p{level}x{n}", step) for n, step in enumerate([*nested, {"id": "go", **below}])]
        having[name] = [f"p{level}x{n}" for n in range(4)]
    firm = Company(
        FakeStaff(line(*names, **having), {each.name: each for each in skills}, budget=PLENTY), sqlite_store, clock,
        settings=EngineSettings(tree_depth=3),
    )  # fmt: skip

    report = await firm.ask("p0x0")

    assert report.error is None
    assert len(await firm.orders()) == 12
