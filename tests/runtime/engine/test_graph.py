from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PlanDefinition
from runtime.engine.graph import PlanCycle, dependencies, order


def plan(*steps: dict[str, Any]) -> PlanDefinition:
    return PlanDefinition.model_validate(
        {"steps": [{"use": "x", **step} if "parallel" not in step else step for step in steps]}
    )


def test_bindings_conditions_and_after_make_dependencies() -> None:
    made = plan(
        {"id": "a"},
        {"id": "b", "with": {"x": "{{ a.rows }}", "y": ["{{ at }}"]}},
        {"id": "c", "when": "b.n > 1"},
        {"id": "d", "after": ["a"], "accept": ["n > c.n"]},
        {"id": "e", "for_each": "{{ d.rows }}", "with": {"x": "{{ item.x }}"}},
    )

    assert dependencies(made) == {"a": set(), "b": {"a"}, "c": {"b"}, "d": {"a", "c"}, "e": {"d"}}


def test_a_group_waits_for_what_its_branches_need_and_stands_for_them() -> None:
    made = plan(
        {"id": "g", "parallel": [{"id": "g1", "use": "x", "with": {"v": "{{ a.n }}"}}, {"id": "g2", "use": "x"}]},
        {"id": "a"},
        {"id": "z", "with": {"v": "{{ g.g1 }}"}},
    )

    assert dependencies(made) == {"g": {"a"}, "a": set(), "z": {"g"}}
    assert order(made) == ("a", "g", "z")


def test_contents_of_files_are_not_searched_for_bindings() -> None:
    made = plan({"id": "a", "with": {"template": {"file": "t", "text": "{{ b.x }}"}}}, {"id": "b"})

    assert dependencies(made)["a"] == frozenset()


def test_a_ring_has_no_order() -> None:
    with pytest.raises(PlanCycle) as caught:
        order(plan({"id": "a", "after": ["b"]}, {"id": "b", "when": "a.n > 1"}))

    assert set(caught.value.ring) == {"a", "b"}


@given(st.permutations(range(8)), st.data())
def test_every_step_comes_after_what_it_waits_for(numbers: list[int], data: st.DataObject) -> None:
    steps = []
    for number in numbers:
        earlier = st.lists(st.sampled_from(range(number)), unique=True) if number else st.just([])
        steps.append({"id": f"s{number}", "after": [f"s{other}" for other in data.draw(earlier)]})
    made = plan(*steps)

    place = {step: at for at, step in enumerate(order(made))}

    assert all(place[needed] < place[step] for step, all_needed in dependencies(made).items() for needed in all_needed)
