from collections.abc import Sequence

import pytest

from contracts import Severity
from governance.alerts import Alerts, AlertState, Noted, Resolution, Taken, Why
from runtime.ledger.store import SqlStore
from tests.governance.alerts.raw import HOUR, MINUTE, ORGANISATION, START, raw, rules

pytestmark = pytest.mark.anyio


@pytest.fixture
def alerts(sqlite_store: SqlStore) -> Alerts:
    return Alerts(sqlite_store, ORGANISATION, rules())


async def test_signals_of_the_same_kind_are_one_alert_that_grows(alerts: Alerts) -> None:
    first = await alerts.note([raw(number=1)], START)
    more = await alerts.note([raw(number=2), raw(number=3)], START + MINUTE)

    assert [view.signals for view in first.opened] == [1]
    assert [(view.signals, view.value) for view in more.grown] == [(3, 3.0)]
    assert not more.opened


async def test_slices_and_kinds_are_alerts_of_their_own(alerts: Alerts) -> None:
    batch = [raw(shop="a"), raw(shop="b"), raw(kind="no_data"), raw(kind="not_enough_history"), raw("flour")]

    assert len((await alerts.note(batch, START)).opened) == 5


async def test_the_same_signal_inside_the_window_counts_once_and_is_listed(alerts: Alerts) -> None:
    await alerts.note([raw(number=1)], START)

    again = await alerts.note([raw(number=1, at=START + 29 * MINUTE)], START + 29 * MINUTE)

    assert [(each.why, each.noted.key) for each in again.suppressed] == [(Why.DUPLICATE, "sales:1:")]
    assert not again.grown
    assert [(view.signals, view.duplicates) for view in await alerts.open(START + HOUR)] == [(1, 1)]


async def test_after_the_window_the_same_key_counts_again(alerts: Alerts) -> None:
    await alerts.note([raw(number=1)], START)

    again = await alerts.note([raw(number=1, at=START + 31 * MINUTE)], START + 31 * MINUTE)

    assert [view.signals for view in again.grown] == [2]


async def test_what_clears_ends_the_alert_of_the_same_slice(alerts: Alerts) -> None:
    await alerts.note([raw(shop="a"), raw(shop="b")], START)

    taken = await alerts.note([raw(kind="cleared", shop="a")], START + MINUTE)

    assert [(view.labels["shop"], view.resolution) for view in taken.resolved] == [("a", Resolution.CLEARED)]
    assert [view.labels["shop"] for view in await alerts.open(START + MINUTE)] == ["b"]


async def test_clearing_what_nobody_knew_of_is_listed(alerts: Alerts) -> None:
    taken = await alerts.note([raw(kind="cleared", at=START + HOUR)], START)

    assert [each.why for each in taken.suppressed] == [Why.NOTHING_TO_CLEAR]


async def test_an_end_that_comes_late_ends_nothing_that_began_anew(alerts: Alerts) -> None:
    later = START + HOUR
    await alerts.note([raw(number=1), raw(kind="cleared", at=START + MINUTE), raw(number=2, at=later)], later)

    again = await alerts.note([raw(number=1), raw(kind="cleared", at=START + MINUTE), raw(number=2, at=later)], later)

    assert again.why == {"duplicate": 2, "nothing_to_clear": 1}
    assert [view.state for view in await alerts.open(later)] == [AlertState.OPEN]


async def test_a_repetition_does_not_show_that_a_source_sees(alerts: Alerts) -> None:
    await alerts.note([raw(number=1), raw(kind="sensor_failed", at=START + MINUTE)], START + MINUTE)

    await alerts.note([raw(number=1)], START + 2 * MINUTE)

    assert {view.kind for view in await alerts.open(START + HOUR)} == {"threshold", "sensor_failed"}


async def test_a_source_that_sees_again_is_not_blind_any_more(alerts: Alerts) -> None:
    await alerts.note([raw(kind="sensor_failed"), raw("flour", kind="sensor_failed")], START)

    taken = await alerts.note([raw(shop="a", at=START + MINUTE)], START + MINUTE)

    assert [(view.source, view.kind) for view in taken.resolved] == [("sensor/sales", "sensor_failed")]


async def test_an_alert_that_comes_back_soon_is_the_same_one(alerts: Alerts) -> None:
    first = await alerts.note([raw(number=1)], START)
    await alerts.note([raw(kind="cleared", at=START + HOUR)], START + MINUTE)

    back = await alerts.note([raw(number=2, at=START + 2 * MINUTE)], START + 2 * MINUTE)

    assert [view.alert_id for view in back.opened] == [first.opened[0].alert_id]
    assert back.opened[0].state is AlertState.OPEN
    assert back.opened[0].since == START + 2 * MINUTE


async def test_an_alert_that_comes_back_late_is_another_one(alerts: Alerts) -> None:
    first = await alerts.note([raw(number=1)], START)
    await alerts.note([raw(kind="cleared", at=START + HOUR)], START + MINUTE)
    await alerts.tick(START + 7 * HOUR)

    back = await alerts.note([raw(number=2)], START + 7 * HOUR)

    assert back.opened[0].alert_id != first.opened[0].alert_id
    assert (await alerts.get(first.opened[0].alert_id)).state is AlertState.CLOSED


async def test_what_is_heard_of_no_more_is_over(alerts: Alerts) -> None:
    await alerts.note([raw()], START)

    taken = await alerts.tick(START + 36 * HOUR)

    assert [view.resolution for view in taken.resolved] == [Resolution.QUIET]


async def test_the_worst_severity_counts_and_sets_the_priority(alerts: Alerts) -> None:
    taken = await alerts.note([raw(number=1, severity=Severity.LOW), raw(number=2, severity=Severity.CRITICAL)], START)

    assert [(view.severity, view.priority) for view in taken.opened] == [(Severity.CRITICAL, 1)]


async def test_thousands_of_signals_become_dozens_of_alerts_and_none_is_lost(alerts: Alerts) -> None:
    batch = [raw(f"shop-{number % 25}", number // 50) for number in range(5_000)]

    taken = await alerts.note(batch, START)

    assert len(taken.opened) == 25
    assert _accounted(await alerts.open(START)) == 5_000
    assert taken.why == {"duplicate": 2_500}


async def test_a_batch_that_is_given_again_after_a_kill_changes_nothing(sqlite_store: SqlStore, alerts: Alerts) -> None:
    batch = [raw(number=number) for number in range(20)]
    await alerts.note(batch, START)
    successor = Alerts(sqlite_store, ORGANISATION, rules())

    again = await successor.note(batch, START + MINUTE)

    assert again.why == {"duplicate": 20}
    assert [view.signals for view in await successor.open(START + MINUTE)] == [20]


async def test_a_batch_larger_than_one_commit_is_taken_whole(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules(at_once=10))

    taken = await alerts.note([raw(number=number) for number in range(35)], START)

    assert (taken.signals, len(taken.opened), taken.opened[0].signals) == (35, 1, 35)


async def test_what_changes_nothing_writes_nothing(sqlite_store: SqlStore, alerts: Alerts) -> None:
    await alerts.note([raw()], START)
    head = await sqlite_store.ledger.head()

    assert await alerts.tick(START + MINUTE) == Taken(START + MINUTE, 0)
    assert await sqlite_store.ledger.head() == head


async def test_a_signal_of_no_sensor_is_taken_as_well(alerts: Alerts) -> None:
    duty = Noted("duty/night", "nobody_answers", "duty:1", START, Severity.HIGH, {"team": "ovens"})

    taken = await alerts.note([duty], START)

    assert [(view.source, view.labels["team"]) for view in taken.opened] == [("duty/night", "ovens")]


def _accounted(views: Sequence[object]) -> int:
    return sum(view.signals + view.duplicates for view in views)  # type: ignore[attr-defined]
