from __future__ import annotations

from typing import Any

from contracts import Budget, OrderId, PlanDefinition
from runtime.engine.states import UnitState
from runtime.engine.turns import Turn, at_once_for, turns_of_repetitions, turns_of_steps
from runtime.engine.view import Child, OrderView


def view_of(*units: tuple[str, int | None, UnitState, Budget | None]) -> OrderView:
    view = OrderView()
    for step, index, state, granted in units:
        unit = view.unit(step, index)
        view.move(unit, state)
        unit.child = Child(OrderId.new(), None, None, granted) if granted is not None else None
    return view


def plan(*steps: dict[str, Any]) -> PlanDefinition:
    return PlanDefinition.model_validate({"steps": steps})


SOME = Budget(steps=3)


def test_what_holds_something_comes_before_what_was_in_progress_what_waited_and_the_rest() -> None:
    steps = plan(*({"id": name, "use": "do"} for name in "abcdefg")).steps
    view = view_of(("a", None, UnitState.WAITING, None), ("b", None, UnitState.INTENDED, None),
                   ("c", None, UnitState.DISPATCHED, SOME), ("d", None, UnitState.WAITING, SOME),
                   ("e", None, UnitState.DONE, SOME), ("f", None, UnitState.FAILED, SOME))  # fmt: skip

    assert turns_of_steps(view, steps) == {
        "a": Turn.WAITED, "b": Turn.IN_PROGRESS, "c": Turn.HOLDS, "d": Turn.HOLDS, "e": Turn.OVER, "f": Turn.NEW,
        "g": Turn.NEW,
    }  # fmt: skip


def test_a_group_has_the_turn_of_its_first_branch_and_a_repetition_that_of_its_own() -> None:
    branches = [{"id": "left", "use": "do"}, {"id": "right", "use": "do"}]
    (group,) = plan({"id": "all", "for_each": "{{ context.items }}", "parallel": branches}).steps
    view = view_of(("left", 0, UnitState.WAITING, None), ("right", 1, UnitState.DISPATCHED, SOME))

    assert turns_of_steps(view, [group]) == {"all": Turn.HOLDS}
    assert turns_of_steps(view, group.parallel, 0) == {"left": Turn.WAITED, "right": Turn.NEW}
    assert turns_of_repetitions(view, group) == {0: Turn.WAITED, 1: Turn.HOLDS}


def test_all_that_hold_something_go_on_at_once() -> None:
    assert at_once_for(1, [Turn.HOLDS, Turn.NEW, Turn.HOLDS]) == 2
    assert at_once_for(4, [Turn.HOLDS, Turn.NEW]) == 4
