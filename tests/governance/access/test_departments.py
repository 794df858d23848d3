"""Roles that hold in a department: the subtree of one employee."""

from __future__ import annotations

import pytest

from governance.access import Departments, People, Person, Role, Scope, Why
from tests.governance.cards import card

TREE = Departments(
    superiors={"delay-desk": "head", "cancellation-desk": "head", "notifier": "cancellation-desk"},
    owners={"explain": ["cancellation-desk"], "tell": ["notifier", "delay-desk"], "look": ["notifier"]},
)
DUTY = frozenset({"duty-managers"})


def scoped(department: str, *roles: Role) -> Person:
    return Person("lou", "Lou", frozenset(), DUTY, scopes=(Scope(department, frozenset(roles)),))


def people(person: Person) -> People:
    return People([person], TREE)


@pytest.mark.parametrize(
    ("place", "held"),
    [
        ("cancellation-desk", True),
        ("notifier", True),
        ("delay-desk", False),
        ("head", False),
        ("gone", False),
        (None, False),
    ],
)
def test_a_role_of_a_department_holds_in_its_subtree_and_nowhere_else(place: str | None, held: bool) -> None:
    lou = scoped("cancellation-desk", Role.VIEWER)
    assert people(lou).sees(lou, place) is held


def test_a_role_held_everywhere_holds_also_where_nobody_knows_the_place() -> None:
    vera = Person("vera", "Vera")
    assert all(people(vera).sees(vera, place) for place in ("head", "gone", None))


def test_different_roles_hold_in_different_departments() -> None:
    both = (Scope("delay-desk", frozenset({Role.OPERATOR})), Scope("notifier", frozenset({Role.APPROVER})))
    lou = Person("lou", "Lou", frozenset(), scopes=both)
    assert people(lou).roles_at(lou, "delay-desk") == {Role.OPERATOR}
    assert people(lou).roles_at(lou, "notifier") == {Role.APPROVER}
    assert lou.any_roles == {Role.OPERATOR, Role.APPROVER}


def test_somebody_removed_since_holds_no_role() -> None:
    assert not People([], TREE).sees(Person("vera", "Vera"), "head")


def test_a_card_is_decided_by_an_approver_of_the_department_that_raised_it_and_would_act() -> None:
    raised = card(employee="cancellation-desk")
    for department in ("cancellation-desk", "head"):
        lou = scoped(department, Role.APPROVER)
        assert people(lou).may_decide(lou, raised) is None


@pytest.mark.parametrize("department", ["delay-desk", "notifier"])
def test_an_approver_of_another_department_or_of_a_part_of_it_does_not_decide_the_card(department: str) -> None:
    lou = scoped(department, Role.APPROVER)
    refusal = people(lou).may_decide(lou, card(employee="cancellation-desk"))
    assert refusal is not None
    assert refusal.why is Why.DEPARTMENT


def test_a_viewer_of_the_department_who_approves_elsewhere_does_not_decide_its_cards() -> None:
    scopes = (Scope("cancellation-desk", frozenset({Role.VIEWER})), Scope("delay-desk", frozenset({Role.APPROVER})))
    lou = Person("lou", "Lou", frozenset(), DUTY, scopes=scopes)
    refusal = people(lou).may_decide(lou, card(employee="cancellation-desk"))
    assert refusal is not None
    assert refusal.why is Why.DEPARTMENT


@pytest.mark.parametrize(
    ("skill", "place"),
    [("explain", "cancellation-desk"), ("tell", "head"), ("look", "notifier"), ("unknown", None), (None, None)],
)
def test_a_skill_has_its_place_at_its_owner_or_at_whom_all_its_owners_report_to(
    skill: str | None, place: str | None
) -> None:
    assert TREE.place_of(skill) == place
