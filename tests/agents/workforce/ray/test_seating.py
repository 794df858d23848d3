"""Who sits where follows from the tree and the hosts alone."""

from __future__ import annotations

from collections import Counter

import pytest

from agents.employee.tree import everyone
from agents.workforce.ray.messages import Address
from agents.workforce.ray.seating import Seating
from runtime.ledger.port import Lease
from tests.agents.employee.staff import FakeNode, FakeStaff
from tests.fakes.clock import HandClock


def hosts(count: int) -> tuple[Address, ...]:
    until = HandClock().now()
    return tuple(Address(f"host-{i}", Lease(f"host/here/{i}", "somebody", 1, until)) for i in range(count))


def company() -> FakeStaff:
    managers = [
        FakeNode(f"manager-{i}", manages=tuple(FakeNode(f"worker-{i}-{j}") for j in range(5))) for i in range(5)
    ]
    return FakeStaff(FakeNode("head", manages=tuple(managers)), {})


@pytest.mark.parametrize("count", [1, 2, 4, 31, 40])
def test_every_host_gets_its_share(count: int) -> None:
    staff, there = company(), hosts(count)

    found = Counter(Seating(staff).host_of(node.id, there, ()) for node in everyone(staff.head))

    assert sum(found.values()) == 31
    assert max(found.values()) - min(found.values()) <= 1


def test_most_workers_sit_with_their_manager() -> None:
    staff, there = company(), hosts(2)
    seating = Seating(staff)

    together = [
        seating.host_of(manager.id, there, ()) == seating.host_of(worker.id, there, ())
        for manager in staff.head.manages
        for worker in manager.manages
    ]

    assert together.count(True) >= 20


def test_only_those_move_whose_host_is_lost() -> None:
    staff, there = company(), hosts(3)
    seating = Seating(staff)
    lost = {there[1]}

    for node in everyone(staff.head):
        before, after = seating.host_of(node.id, there, ()), seating.host_of(node.id, there, lost)
        assert after not in lost
        assert before == after or before in lost


def test_with_every_host_lost_there_is_none() -> None:
    there = hosts(2)

    assert Seating(company()).host_of("head", there, there) is None


def test_an_employee_that_asks_for_it_sits_apart() -> None:
    staff = FakeStaff(FakeNode("head", manages=(FakeNode("heavy", isolation="process"),)), {})

    assert [Seating(staff).sits_apart(each) for each in ("head", "heavy")] == [False, True]
