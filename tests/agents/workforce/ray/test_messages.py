"""What travels arrives as it was sent, errors as the same errors."""

from __future__ import annotations

import pytest

import agents.workforce.errors
import cluster.errors
import governance.errors
import runtime.errors
from agents.workforce.errors import Stopped
from agents.workforce.ray.messages import (
    Stretch,
    pack_answer,
    pack_order,
    unpack_answer,
    unpack_order,
    unpack_stretch,
)
from contracts import ExecutionId, OrderId, OrderState, StatusReport, Usage
from runtime.engine.delegation import ChildEnded
from runtime.engine.source import Source
from runtime.errors import SiliconError
from runtime.ledger.port import Lease
from tests.agents.employee.staff import order
from tests.agents.workforce.ray.test_seating import hosts
from tests.fakes.clock import HandClock

ERRORS = sorted(
    {
        error
        for module in (runtime.errors, cluster.errors, governance.errors, agents.workforce.errors)
        for error in vars(module).values()
        if isinstance(error, type) and issubclass(error, SiliconError)
    },
    key=lambda error: error.__name__,
)


def test_an_order_arrives_with_its_stretch() -> None:
    lease = Lease("execution/1", "somebody", 3, HandClock().now())
    stretch = Stretch(ExecutionId.new(), lease, resumed=True, reopened=False, hosts=hosts(2))
    sent = order()

    packed, received, new = unpack_order(pack_order(stretch, sent, new=True))
    assert new

    assert received == sent
    assert packed == stretch.packed
    assert unpack_stretch(packed) == stretch


def test_a_report_arrives() -> None:
    report = StatusReport(order_id=OrderId.new(), state=OrderState.DONE, output={"n": 1})

    source = Source(uses=("work",), changed_the_world=True)
    assert unpack_answer(pack_answer(report)) == (report, None)
    assert unpack_answer(pack_answer(report, source)) == (report, source)


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_raised_as_what_it_was(error: type[SiliconError]) -> None:
    with pytest.raises(error) as caught:
        unpack_answer(pack_answer(error("What, where, why.", order_id="order/1", count=3)))

    assert type(caught.value) is error
    assert (caught.value.message, caught.value.facts) == ("What, where, why.", {"order_id": "order/1", "count": 3})


def test_an_error_that_cannot_travel_arrives_with_its_code_and_words() -> None:
    report = StatusReport(order_id=OrderId.new(), state=OrderState.FAILED)

    with pytest.raises(SiliconError) as caught:
        unpack_answer(pack_answer(ChildEnded(report, "pay", spent=Usage(), happened=False)))

    assert caught.value.code == "ORDER_FAILED"
    assert caught.value.problem().code == "ORDER_FAILED"


def test_a_fault_of_the_program_arrives_as_one() -> None:
    class Local(Exception):
        """Cannot be pickled."""

    with pytest.raises(RuntimeError, match="Local: it broke"):
        unpack_answer(pack_answer(Local("it broke")))


def test_that_an_order_was_stopped_is_told() -> None:
    with pytest.raises(Stopped):
        unpack_answer(pack_answer(Stopped("order/1")))
