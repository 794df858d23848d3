"""What options promise, and labels that earlier promises corrected."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agents.cognition.advise import AdviseCapability
from agents.cognition.evaluate import LedgerLabels, Reliability
from agents.cognition.evaluate.calibration import Correction
from console.texts import say_in
from contracts import Confidence, DecisionCard, Expectation, Json
from governance.approvals import ApprovalGateway
from memory.metrics import MetricRegistry
from runtime.capabilities.port import CallContext, Waiting
from runtime.errors import InvalidArguments, NotFound
from runtime.ledger.store import SqlStore
from tests.governance.cards import NOW, ORGANISATION, RULES, WAIVE, order
from tests.memory.duck import Duck, cancel_rate, duck

__all__ = ["duck"]
pytestmark = pytest.mark.anyio

NEXT: dict[str, Json] = {
    "metric": "cancel-rate", "grain": "day", "where": {"carrier": "AA"}, "period": "2013-02-09", "baseline": 0.3,
    "change": -0.28, "low": -0.3, "high": -0.2, "level": 0.9,
}  # fmt: skip
OPTIONS: dict[str, Any] = {
    "question": "Waive?",
    "impact": "Many",
    "options": [
        {
            "id": "waive", "title": "t", "benefit": "b", "risk": "r", "cost": "c", "expects": "{{ why.next }}",
            "do": [{"by": "notifier", "use": "desk.waive_fees", "with": {"airports": [], "flights": 1}}],
        },
        {"id": "nothing", "title": "t", "benefit": "b", "risk": "r", "cost": "c"},
    ],
}  # fmt: skip


@pytest.fixture
def labels(sqlite_store: SqlStore) -> LedgerLabels:
    return LedgerLabels(sqlite_store.ledger, ORGANISATION)


@pytest.fixture
def advise(gateway: ApprovalGateway, duck: Duck, labels: LedgerLabels) -> AdviseCapability:
    registry = MetricRegistry([cancel_rate()], duck.query, time_zone="America/New_York")
    return AdviseCapability(lambda: {WAIVE.name: WAIVE}, RULES, gateway, say_in=say_in, metrics=registry, labels=labels)


async def card_of(advise: AdviseCapability, next_: Json = NEXT) -> DecisionCard:
    given: dict[str, Json] = {
        "options": OPTIONS, "why": {"next": next_}, "finding": {"verdict": "weather", "confidence": "high"}
    }  # fmt: skip
    context = CallContext(order=order(skill="explain"), step="choose", key="k", attempt=1, now=NOW)
    answer = await advise.call(given, context)
    assert isinstance(answer, Waiting)
    return DecisionCard.model_validate(answer.appends[0].events[0].data["card"])


async def test_an_option_carries_its_promise_with_unit_definition_and_moments(advise: AdviseCapability) -> None:
    waive, nothing = (await card_of(advise)).options

    assert isinstance(waive.expects, Expectation) and nothing.expects is None
    assert (waive.expects.unit, waive.expects.where, waive.expects.change) == ("share", {"carrier": "AA"}, -0.28)
    assert waive.expects.starts_at == datetime(2013, 2, 9, 5, tzinfo=UTC)
    assert waive.expects.ends_at == datetime(2013, 2, 10, 5, tzinfo=UTC)


async def test_where_nothing_could_be_told_nothing_is_promised(advise: AdviseCapability) -> None:
    assert [option.expects for option in (await card_of(advise, None)).options] == [None, None]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"low": None}, "lacks low"),
        ({"until": "x"}, "no field until"),
        ({"grain": "minute"}, "not read by minute"),
        ({"change": -0.5}, "does not lie in its interval"),
        ({"change": "much"}, "cannot be used"),
    ],
)
async def test_a_promise_that_could_not_be_judged_is_refused(
    advise: AdviseCapability, changes: dict[str, Json], told: str
) -> None:
    with pytest.raises(InvalidArguments, match=told):
        await card_of(advise, {**NEXT, **changes})


async def test_a_promise_about_no_metric_is_refused(advise: AdviseCapability) -> None:
    with pytest.raises(NotFound, match="no metric rain"):
        await card_of(advise, {**NEXT, "metric": "rain"})


def row(kept: int, n: int) -> Reliability:
    return Reliability("explain", Confidence.HIGH, 0.9, n, kept, 0, kept / n, 0.2, 0.6)


async def test_a_corrected_label_is_shown_as_corrected_with_the_reason(
    advise: AdviseCapability, labels: LedgerLabels
) -> None:
    due = Correction("explain", Confidence.HIGH, Confidence.LOW, 8, 20, 0.9, 0.6)
    await labels.settle([row(8, 20)], [due])
    card = await card_of(advise)
    fact = card.facts["confidence high"]

    assert {option.confidence for option in card.options} == {Confidence.LOW}
    assert isinstance(fact, dict) and fact["value"] == "high → low"
    assert (fact["kept"], fact["n"], fact["promised"]) == (8, 20, 0.9)


async def test_a_label_that_is_used_again_is_not_loosened_unseen(
    advise: AdviseCapability, labels: LedgerLabels
) -> None:
    due = Correction("explain", Confidence.HIGH, Confidence.LOW, 8, 20, 0.9, 0.6)
    await labels.settle([row(8, 20)], [due])
    await labels.settle([row(95, 100)], [])
    card = await card_of(advise)
    fact = card.facts["confidence high"]

    assert {option.confidence for option in card.options} == {Confidence.HIGH}
    assert isinstance(fact, dict) and (fact["value"], fact["kept"], fact["n"]) == ("high ✓", 95, 100)
