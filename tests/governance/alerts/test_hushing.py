from datetime import datetime, time, timedelta

import pytest

from governance.alerts import Alerts, Flapping, HushReason, Inhibition, Matcher, Why
from governance.alerts.maintenance import Dated, Maintenance, Weekly
from governance.errors import AlertPast
from runtime.errors import InvalidArguments, NotFound
from runtime.ledger.store import SqlStore
from tests.governance.alerts.raw import ANNA, HOUR, MINUTE, ORGANISATION, START, raw, rules

pytestmark = pytest.mark.anyio
STORM = Inhibition("storm", Matcher({"sensor": ("storm",)}), Matcher({"sensor": ("late",)}), ("airport",))


async def test_a_silenced_alert_is_there_and_says_by_whom(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules())
    silence = await alerts.silence(Matcher({"sensor": ("sa*",)}), ANNA, START, until=START + HOUR, reason="new oven")

    taken = await alerts.note([raw(), raw("flour")], START)

    assert [(each.why, each.by) for each in taken.suppressed] == [(Why.SILENCED, silence.silence_id)]
    assert [hush.until for hush in taken.opened[0].hushes] == [START + HOUR]
    assert [[view.source for view in telling.alerts] for telling in taken.tellings] == [["sensor/flour"]]


async def test_what_was_silenced_is_told_when_the_silence_ends(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules())
    await alerts.silence(Matcher({"sensor": ("sales",)}), ANNA, START, until=START + HOUR, reason="new oven")
    await alerts.note([raw()], START)

    taken = await alerts.tick(START + HOUR)

    assert [telling.to for telling in taken.tellings] == [("bakers",)]
    assert await alerts.silences(START + HOUR) == []


async def test_a_lifted_silence_hushes_nothing_any_more(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules())
    silence = await alerts.silence(Matcher({"sensor": ("sales",)}), ANNA, START, until=START + HOUR, reason="x")
    await alerts.note([raw()], START)

    lifted = await alerts.lift(silence.silence_id, ANNA, START + MINUTE)

    assert (lifted.lifted_by, lifted.lifted_at) == ("anna", START + MINUTE)
    assert [view.hushes for view in await alerts.open(START + MINUTE)] == [()]
    with pytest.raises(AlertPast):
        await alerts.lift(silence.silence_id, ANNA, START + MINUTE)


async def test_a_silence_is_known_to_other_processes_and_after_a_kill(sqlite_store: SqlStore) -> None:
    one, other = (Alerts(sqlite_store, ORGANISATION, rules()) for _ in range(2))
    await other.open(START)
    await one.silence(Matcher({"sensor": ("sales",)}), ANNA, START, until=START + HOUR, reason="x")

    assert (await other.note([raw()], START)).why == {"silenced": 1}
    assert len(await Alerts(sqlite_store, ORGANISATION, rules()).silences(START)) == 1


@pytest.mark.parametrize(
    ("match", "until", "reason"),
    [
        (Matcher(), START + HOUR, "everything"),
        (Matcher({"sensor": ("sales",)}), START, "no time"),
        (Matcher({"sensor": ("sales",)}), START + timedelta(days=31), "too long"),
        (Matcher({"sensor": ("sales",)}), START + HOUR, "  "),
        (Matcher({"sensor": ()}), START + HOUR, "no value"),
        (Matcher({"sensor": ("s" * 2_000,)}), START + HOUR, "endless"),
    ],
)
async def test_a_silence_that_would_hide_too_much_is_refused(
    sqlite_store: SqlStore, match: Matcher, until: datetime, reason: str
) -> None:
    with pytest.raises(InvalidArguments):
        await Alerts(sqlite_store, ORGANISATION, rules()).silence(match, ANNA, START, until=until, reason=reason)


async def test_a_silence_hushes_what_has_all_its_labels_and_nothing_else(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules())
    await alerts.note([raw(shop="a"), raw(shop="b"), raw("flour", shop="a")], START)
    match = Matcher({"sensor": ("sales",), "shop": ("a", "c")})

    await alerts.silence(match, ANNA, START, until=START + HOUR, reason="new oven")

    hushed = [view for view in await alerts.open(START) if view.hushes]
    assert [(view.labels["sensor"], view.labels["shop"]) for view in hushed] == [("sales", "a")]


async def test_a_silence_that_was_lifted_elsewhere_and_pruned_hushes_nothing(sqlite_store: SqlStore) -> None:
    one, other = (Alerts(sqlite_store, ORGANISATION, rules()) for _ in range(2))
    silence = await one.silence(Matcher({"sensor": ("sales",)}), ANNA, START, until=START + HOUR, reason="x")
    assert await other.silences(START) == [silence]
    lifted = await one.lift(silence.silence_id, ANNA, START + MINUTE)
    await sqlite_store.ledger.prune({silence.silence_id: lifted.version}, reason="old")

    assert await other.silences(START + MINUTE) == []
    assert (await other.note([raw()], START + 2 * HOUR)).why == {}


async def test_while_one_alert_is_open_those_that_it_explains_say_nothing(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules(inhibitions=(STORM,)))
    storm = await alerts.note([raw("storm", airport="EWR")], START)

    taken = await alerts.note([raw("late", airport="EWR"), raw("late", airport="JFK")], START + 6 * MINUTE)

    assert [(each.why, each.by) for each in taken.suppressed] == [(Why.INHIBITED, f"storm: {storm.opened[0].alert_id}")]
    assert [[view.labels["airport"] for view in told.alerts] for told in taken.tellings] == [["JFK"]]


async def test_once_the_explaining_alert_is_over_the_other_is_told(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules(inhibitions=(STORM,)))
    await alerts.note([raw("storm", airport="EWR"), raw("late", airport="EWR")], START)

    taken = await alerts.note([raw("storm", kind="cleared", airport="EWR")], START + 10 * MINUTE)

    assert {view.source for telling in taken.tellings for view in telling.alerts} == {"sensor/storm", "sensor/late"}


async def test_of_alerts_that_explain_each_other_in_a_circle_the_oldest_is_heard(sqlite_store: SqlStore) -> None:
    circle = tuple(
        Inhibition(f"{a}-{b}", Matcher({"sensor": (a,)}), Matcher({"sensor": (b,)}))
        for a, b in (("a", "b"), ("b", "c"), ("c", "a"))
    )
    alerts = Alerts(sqlite_store, ORGANISATION, rules(inhibitions=circle))
    for number, name in enumerate("bca"):
        await alerts.note([raw(name)], START + number * MINUTE)

    heard = [view.source for view in await alerts.open(START + HOUR) if not view.hushes]

    assert heard == ["sensor/b"]


async def test_alerts_under_maintenance_are_listed_with_the_window(sqlite_store: SqlStore) -> None:
    windows = (
        Maintenance("oven", Matcher({"sensor": ("sales",)}), Weekly(time(8), time(9))),
        Maintenance("move", Matcher(), Dated(datetime(2026, 3, 2, 12), datetime(2026, 3, 2, 14))),
    )
    alerts = Alerts(sqlite_store, ORGANISATION, rules(maintenance=windows))

    taken = await alerts.note([raw(), raw("flour")], START + 30 * MINUTE)
    noon = await alerts.tick(START + 4 * HOUR)

    assert [(each.why, each.by) for each in taken.suppressed] == [(Why.MAINTENANCE, "oven")]
    assert [[hush.by for hush in view.hushes] for view in await alerts.recent()] == [["move"], ["move"]]
    assert not noon.tellings


async def test_an_alert_that_goes_on_and_off_flaps_is_told_once_and_steadies_later(sqlite_store: SqlStore) -> None:
    flapping = Flapping(timedelta(hours=2), begins=5, ends=2)
    alerts = Alerts(sqlite_store, ORGANISATION, rules(flapping=flapping))
    told = []
    for number in range(12):
        at = START + number * 5 * MINUTE
        kind = "cleared" if number % 2 else "threshold"
        taken = await alerts.note([raw(number=number, kind=kind, at=at)], at)
        told += [(number, telling.occasion.value) for telling in taken.tellings]

    flapped = (await alerts.recent())[0]
    assert flapped.flapping
    assert [number for number, _ in told] == [0, 1, 2, 3, 4]
    await alerts.note([raw(number=99, at=START + 2 * HOUR)], START + 2 * HOUR)
    assert [hush.reason for hush in (await alerts.recent())[0].hushes] == [HushReason.FLAPPING]
    steady = await alerts.tick(START + 3 * HOUR)
    assert not (await alerts.recent())[0].flapping
    assert [telling.occasion.value for telling in steady.tellings] == ["news"]


async def test_silences_of_another_organisation_are_not_there(sqlite_store: SqlStore) -> None:
    one, other = Alerts(sqlite_store, "bakery", rules()), Alerts(sqlite_store, "mill", rules())
    silence = await one.silence(Matcher({"sensor": ("sales",)}), ANNA, START, until=START + HOUR, reason="x")

    with pytest.raises(NotFound):
        await other.lift(silence.silence_id, ANNA, START)
    assert (await other.note([raw()], START)).why == {}
