import asyncio
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.alerts import Alerts, AlertState, Matcher, Why
from governance.errors import AlertPast
from runtime.ledger.store import SqlStore
from tests.governance.alerts.raw import ANNA, HOUR, MINUTE, ORGANISATION, START, raw, rules

pytestmark = pytest.mark.anyio


async def test_many_servers_at_once_make_one_alert_and_lose_no_signal(store: SqlStore) -> None:
    servers = [Alerts(store, ORGANISATION, rules()) for _ in range(4)]

    await asyncio.gather(
        *(server.note([raw(number=10 * nth + each) for each in range(10)], START) for nth, server in enumerate(servers))
    )

    views = [view for server in servers for view in await server.open(START)]
    assert len({view.alert_id for view in views}) == 1
    assert {view.signals for view in views} == {40}


async def test_tasks_of_one_process_do_not_get_into_each_others_way(sqlite_store: SqlStore) -> None:
    alerts, other = (Alerts(sqlite_store, ORGANISATION, rules()) for _ in range(2))

    async def ask(number: int) -> None:
        await other.note([raw(number=1_000 + number)], START)
        await asyncio.gather(alerts.open(START), alerts.note([raw(number=number)], START), alerts.recent())

    await asyncio.gather(*(ask(number) for number in range(12)))

    assert [view.signals for view in await alerts.open(START)] == [24]


async def test_a_new_process_reads_what_goes_on_and_nothing_of_what_is_closed(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules())
    for day in range(30):
        at = START + timedelta(days=day)
        await alerts.note([raw(number=day, at=at)], at)
        await alerts.note([raw(kind="cleared", at=at + MINUTE)], at + MINUTE)
        await alerts.tick(at + 7 * HOUR)
    at = START + timedelta(days=30)
    await alerts.note([raw(number=99, at=at)], at)

    successor = Alerts(sqlite_store, ORGANISATION, rules())

    assert len(await successor.recent()) == 1
    assert len(await sqlite_store.ledger.streams("alert", organisation=ORGANISATION)) == 31


async def test_what_one_process_is_told_the_other_knows(sqlite_store: SqlStore) -> None:
    one, other = (Alerts(sqlite_store, ORGANISATION, rules()) for _ in range(2))
    await other.open(START)
    taken = await one.note([raw()], START)
    await other.acknowledge(taken.opened[0].alert_id, ANNA, START)

    with pytest.raises(AlertPast):
        await one.acknowledge(taken.opened[0].alert_id, ANNA, START)
    assert [view.acknowledged_by for view in await one.open(START)] == ["anna"]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["fire", "fire", "clear", "acknowledge", "resolve", "silence", "wait"]),
        st.integers(0, 2),
        st.integers(0, 120),
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
async def test_whatever_happens_no_signal_is_lost_and_the_ledger_tells_the_same(
    sqlite_store: SqlStore, steps: list[tuple[str, int, int]]
) -> None:
    organisation = f"bakery-{id(steps)}-{len(await sqlite_store.ledger.streams('alerts'))}"
    alerts, at, counted = Alerts(sqlite_store, organisation, rules()), START, 0
    for number, (what, which, minutes) in enumerate(steps):
        at += minutes * MINUTE
        if what in ("fire", "clear"):
            kind = "cleared" if what == "clear" else "threshold"
            taken = await alerts.note([raw(f"s{which}", number % 4, kind=kind, at=at)], at)
            counted += what == "fire" and Why.DUPLICATE.value not in taken.why
        else:
            await _act(alerts, what, which, at)

    streams = await sqlite_store.ledger.streams("alert", organisation=organisation)
    views = [await alerts.get(stream) for stream in streams]  # type: ignore[arg-type]
    assert sum(view.signals for view in views) == counted
    assert {view.alert_id: view for view in views if view.state is not AlertState.CLOSED} == {
        view.alert_id: view for view in await alerts.recent()
    }


async def _act(alerts: Alerts, what: str, which: int, at: datetime) -> None:
    if what == "silence":
        await alerts.silence(Matcher({"sensor": (f"s{which}",)}), ANNA, at, until=at + HOUR, reason="test")
        return
    if what == "wait":
        await alerts.tick(at)
        return
    move = alerts.acknowledge if what == "acknowledge" else alerts.resolve
    for view in (await alerts.open(at))[which:][:1]:
        if what == "resolve" or view.state is AlertState.OPEN:
            await move(view.alert_id, ANNA, at)
