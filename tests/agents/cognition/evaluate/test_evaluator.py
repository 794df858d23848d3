"""What was promised on cards against what the metric says."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agents.cognition.evaluate import Evaluator, Kept, LedgerLabels
from contracts import Confidence
from memory.metrics import MetricRegistry
from runtime.errors import CapabilityFailed
from runtime.ledger.store import SqlStore
from runtime.settings.evaluation import EvaluationSettings
from tests.agents.cognition.evaluate.conftest import FIRST, Promise
from tests.governance.cards import ORGANISATION
from tests.memory.duck import Duck, cancel_rate

pytestmark = pytest.mark.anyio

OVER = FIRST + timedelta(days=1)


async def test_a_promise_waits_for_the_end_of_its_period(evaluator: Evaluator, promise: Promise) -> None:
    await promise()
    done = await evaluator.due(OVER - timedelta(seconds=1))

    assert (done.judged, done.waiting) == ((), 1)


@pytest.mark.parametrize(("cancelled", "kept"), [(2, Kept.KEPT), (30, Kept.BROKEN)])
async def test_it_is_kept_when_the_change_lies_in_the_interval(
    evaluator: Evaluator, promise: Promise, duck: Duck, cancelled: int, kept: Kept
) -> None:
    duck.fly("2013-02-09 10:00", flown=100 - cancelled, cancelled=cancelled)
    card = await promise("waive")
    [one] = (await evaluator.due(OVER)).judged

    assert (one.card, one.option, one.how, one.skill, one.kept) == (card, "waive", "approved", "explain", kept)
    assert one.change == pytest.approx(cancelled / 100 - 0.3)


async def test_each_promise_is_judged_once_also_by_two_at_the_same_time(
    evaluator: Evaluator, promise: Promise, duck: Duck, sqlite_store: SqlStore, registry: MetricRegistry
) -> None:
    duck.fly("2013-02-09 10:00", flown=98, cancelled=2)
    await promise()
    other = Evaluator(sqlite_store.ledger, registry, ORGANISATION, EvaluationSettings())
    found = [*(await evaluator.due(OVER)).judged, *(await other.due(OVER)).judged, *(await evaluator.due(OVER)).judged]

    assert len(found) == len(await evaluator.judged()) == 1


async def test_of_a_denied_card_doing_nothing_is_what_happened(
    evaluator: Evaluator, promise: Promise, duck: Duck
) -> None:
    duck.fly("2013-02-09 10:00", flown=98, cancelled=2)
    await promise("deny")
    [one] = (await evaluator.due(OVER)).judged

    assert (one.option, one.how) == ("nothing", "denied")


async def test_a_card_that_nobody_decided_yet_promised_nothing_yet(
    evaluator: Evaluator, promise: Promise, duck: Duck
) -> None:
    duck.fly("2013-02-09 10:00", flown=98, cancelled=2)
    await promise(None)

    assert (await evaluator.due(OVER)).judged == ()


async def test_what_was_approved_and_not_carried_out_yet_is_not_judged(
    evaluator: Evaluator, promise: Promise, duck: Duck
) -> None:
    duck.fly("2013-02-09 10:00", flown=98, cancelled=2)
    await promise("waive", carried_out=False)

    assert (await evaluator.due(OVER)).judged == ()


async def test_a_missing_value_is_waited_for_and_then_inconclusive(evaluator: Evaluator, promise: Promise) -> None:
    await promise()
    first, later = await evaluator.due(OVER), await evaluator.due(OVER + timedelta(days=1))

    assert (first.judged, first.waiting) == ((), 1)
    assert [(one.kept, one.why, one.change) for one in later.judged] == [(Kept.INCONCLUSIVE, "no_value", None)]


async def test_under_another_definition_nothing_is_compared(
    sqlite_store: SqlStore, promise: Promise, duck: Duck
) -> None:
    await promise()
    other = MetricRegistry([cancel_rate(value="max(CAST(cancelled AS INTEGER))")], duck.query)
    [one] = (await Evaluator(sqlite_store.ledger, other, ORGANISATION, EvaluationSettings()).due(OVER)).judged

    assert (one.kept, one.why) == (Kept.INCONCLUSIVE, "definition_changed")


async def test_a_metric_that_lost_its_grain_is_not_read(sqlite_store: SqlStore, promise: Promise, duck: Duck) -> None:
    await promise()
    other = MetricRegistry([cancel_rate(grains=("hour",))], duck.query)
    [one] = (await Evaluator(sqlite_store.ledger, other, ORGANISATION, EvaluationSettings()).due(OVER)).judged

    assert (one.kept, one.why) == (Kept.INCONCLUSIVE, "definition_changed")


async def test_a_metric_that_cannot_be_read_now_is_tried_again(
    sqlite_store: SqlStore, promise: Promise, duck: Duck
) -> None:
    async def broken(*_: object) -> list[dict[str, object]]:
        raise CapabilityFailed("The database is away.")

    await promise()
    away = Evaluator(sqlite_store.ledger, MetricRegistry([cancel_rate()], broken), ORGANISATION, EvaluationSettings())
    assert [why for _, why in (await away.due(OVER)).not_read] == ["The database is away."]

    duck.fly("2013-02-09 10:00", flown=98, cancelled=2)
    back = Evaluator(
        sqlite_store.ledger, MetricRegistry([cancel_rate()], duck.query), ORGANISATION, EvaluationSettings()
    )
    assert len((await back.due(OVER)).judged) == 1


async def test_a_label_that_keeps_breaking_its_promise_is_corrected_and_restored_when_it_comes_true_again(
    evaluator: Evaluator, promise: Promise, duck: Duck, sqlite_store: SqlStore
) -> None:
    labels = LedgerLabels(sqlite_store.ledger, ORGANISATION)
    duck.fly("2013-02-09 10:00", flown=50, cancelled=50)
    for _ in range(4):
        await promise()
    assert (await evaluator.due(OVER)).changed == (), "four outcomes are not enough"

    await promise()
    [changed] = (await evaluator.due(OVER)).changed
    standing = (await labels.of("explain"))[Confidence.HIGH]
    assert (changed.label, changed.to) == (Confidence.HIGH, Confidence.LOW)
    assert (standing.kept, standing.n, standing.corrected) == (0, 5, True)
    assert await labels.of("other") == {}

    duck.fly("2013-02-10 10:00", flown=98, cancelled=2)
    for _ in range(60):
        await promise(day=FIRST + timedelta(days=1))
    [again] = (await evaluator.due(OVER + timedelta(days=1))).changed
    assert (again.label, again.to, again.corrected) == (Confidence.HIGH, Confidence.HIGH, False)
    assert Confidence.HIGH in await labels.of("explain"), "and the cards that follow tell that it was corrected"


async def test_a_value_whose_data_is_still_under_way_is_not_judged_yet(
    sqlite_store: SqlStore, promise: Promise, duck: Duck
) -> None:
    late = MetricRegistry([cancel_rate(freshness_s=21_600.0)], duck.query)
    evaluator = Evaluator(sqlite_store.ledger, late, ORGANISATION, EvaluationSettings())
    await promise(metric_version=late.formula_version("cancel-rate"))
    duck.fly("2013-02-09 10:00", cancelled=1)
    first = await evaluator.due(OVER + timedelta(hours=5))
    duck.fly("2013-02-09 11:00", flown=98, cancelled=1)
    [one] = (await evaluator.due(OVER + timedelta(hours=6))).judged

    assert (first.judged, first.waiting) == ((), 1)
    assert (one.kept, one.n) == (Kept.KEPT, 100)


@pytest.mark.parametrize(("low", "kept"), [(-0.3 + 1 / 3, Kept.KEPT), (-0.3 + 0.3334, Kept.BROKEN)])
async def test_a_promise_of_one_number_is_kept_although_it_was_rounded(
    evaluator: Evaluator, promise: Promise, duck: Duck, low: float, kept: Kept
) -> None:
    duck.fly("2013-02-09 10:00", flown=20, cancelled=10)
    told = round(low, 9)
    await promise(change=told, low=told, high=told)
    [one] = (await evaluator.due(OVER)).judged

    assert one.kept is kept
