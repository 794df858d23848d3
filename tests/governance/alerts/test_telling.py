from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from contracts import Severity
from governance.alerts import Alerts, AlertState, Occasion, Taken
from governance.errors import AlertPast
from runtime.ledger.store import SqlStore
from tests.governance.alerts.raw import ANNA, HOUR, MINUTE, ORGANISATION, START, raw, rules

pytestmark = pytest.mark.anyio


@pytest.fixture
def alerts(sqlite_store: SqlStore) -> Alerts:
    return Alerts(sqlite_store, ORGANISATION, rules())


def told(taken: Taken) -> Sequence[tuple[str, tuple[str, ...], int]]:
    """What for, to whom, about how many alerts."""
    return [(each.occasion.value, each.to, len(each.alerts)) for each in taken.tellings]


async def test_alerts_of_one_group_are_told_together_after_the_wait(sqlite_store: SqlStore) -> None:
    made = rules()
    waiting = replace(made, routes=(replace(made.routes[0], wait=timedelta(seconds=30)),))
    alerts = Alerts(sqlite_store, ORGANISATION, waiting)

    first = await alerts.note([raw(shop="a")], START)
    await alerts.note([raw(shop="b")], START + timedelta(seconds=20))
    together = await alerts.tick(START + timedelta(seconds=30))

    assert told(first) == []
    assert told(together) == [("news", ("bakers",), 2)]


async def test_news_of_a_group_come_at_most_every_interval(alerts: Alerts) -> None:
    await alerts.note([raw(shop="a")], START)

    soon = await alerts.note([raw(shop="b")], START + MINUTE)
    later = await alerts.tick(START + 5 * MINUTE)

    assert told(soon) == []
    assert told(later) == [("news", ("bakers",), 1)]


async def test_what_stays_open_is_told_again(alerts: Alerts) -> None:
    await alerts.note([raw()], START)
    await alerts.tick(START + HOUR)

    assert told(await alerts.tick(START + 5 * HOUR - MINUTE)) == []
    assert told(await alerts.tick(START + 5 * HOUR)) == [("repeat", ("bakers",), 1)]


async def test_an_alert_that_nobody_acknowledges_goes_up_level_by_level(alerts: Alerts) -> None:
    levels = [
        told(await alerts.note([raw()], START)),
        told(await alerts.tick(START + 14 * MINUTE)),
        told(await alerts.tick(START + 15 * MINUTE)),
        told(await alerts.tick(START + 16 * MINUTE)),
        told(await alerts.tick(START + HOUR)),
    ]

    assert levels == [
        [("news", ("bakers",), 1)], [], [("escalation", ("head",), 1)], [], [("escalation", ("owner",), 1)]
    ]  # fmt: skip


async def test_acknowledging_stops_the_escalation_and_the_repeats(alerts: Alerts) -> None:
    taken = await alerts.note([raw()], START)

    view = await alerts.acknowledge(taken.opened[0].alert_id, ANNA, START + MINUTE, "on my way")

    assert (view.state, view.acknowledged_by, view.reason) == (AlertState.ACKNOWLEDGED, "anna", "on my way")
    assert told(await alerts.tick(START + 9 * HOUR)) == []


async def test_what_was_acknowledged_and_grows_worse_calls_again_from_the_first_level(alerts: Alerts) -> None:
    taken = await alerts.note([raw()], START)
    await alerts.acknowledge(taken.opened[0].alert_id, ANNA, START + MINUTE)

    worse = await alerts.note([raw(number=1, severity=Severity.CRITICAL)], START + HOUR)

    assert told(worse) == [("news", ("bakers",), 1)]
    assert told(await alerts.tick(START + HOUR + 15 * MINUTE)) == [("escalation", ("head",), 1)]


async def test_levels_that_came_due_while_no_server_ran_are_told_at_once(alerts: Alerts) -> None:
    await alerts.note([raw()], START)

    taken = await alerts.tick(START + 3 * HOUR)

    assert told(taken) == [("escalation", ("head", "owner"), 1)]
    assert taken.tellings[0].level == 2


async def test_a_server_that_takes_over_goes_on_where_the_other_died(sqlite_store: SqlStore, alerts: Alerts) -> None:
    await alerts.note([raw()], START)
    await alerts.tick(START + 15 * MINUTE)
    successor = Alerts(sqlite_store, ORGANISATION, rules())

    assert told(await successor.tick(START + 20 * MINUTE)) == []
    assert told(await successor.tick(START + HOUR)) == [("escalation", ("owner",), 1)]


async def test_that_it_is_over_is_told_to_those_who_heard_of_it(alerts: Alerts) -> None:
    await alerts.note([raw()], START)

    taken = await alerts.note([raw(kind="cleared")], START + 10 * MINUTE)

    assert [(each.occasion, each.alerts[0].state) for each in taken.tellings] == [(Occasion.NEWS, AlertState.RESOLVED)]


async def test_where_nobody_is_named_nobody_is_told(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules(routes=()))

    assert told(await alerts.note([raw()], START)) == []
    assert len(await alerts.open(START)) == 1


async def test_an_alert_is_acknowledged_once(alerts: Alerts) -> None:
    alert_id = (await alerts.note([raw()], START)).opened[0].alert_id
    await alerts.acknowledge(alert_id, ANNA, START)

    with pytest.raises(AlertPast, match="acknowledged by anna"):
        await alerts.acknowledge(alert_id, ANNA, START)


async def test_a_person_may_say_that_it_is_over(alerts: Alerts) -> None:
    alert_id = (await alerts.note([raw()], START)).opened[0].alert_id

    view = await alerts.resolve(alert_id, ANNA, START + MINUTE, "oven replaced")

    assert (view.state, view.reason) == (AlertState.RESOLVED, "oven replaced")
