from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.cognition.attend import Because, Rate, Sampling, next_rate
from runtime.ledger.store import SqlStore
from runtime.settings import AttentionSettings
from tests.governance.alerts.raw import ORGANISATION, START

pytestmark = pytest.mark.anyio
SETTINGS = AttentionSettings(look_every_s=600, look_least_s=60, look_most_s=3_600, calm_looks=3)
MINUTES = timedelta(minutes=1)


async def test_a_sensor_looks_more_often_where_anomalies_are(sqlite_store: SqlStore) -> None:
    sampling = Sampling(sqlite_store, ORGANISATION, SETTINGS)

    rate = await sampling.looked("sales", anomalies=2, at=START)

    assert (rate.every, rate.because, rate.anomalies) == (5 * MINUTES, Because.ANOMALIES, 2)


async def test_a_sensor_looks_less_often_once_it_is_calm(sqlite_store: SqlStore) -> None:
    sampling = Sampling(sqlite_store, ORGANISATION, SETTINGS)

    rates = [(await sampling.looked("sales", anomalies=0, at=START)).every for _ in range(6)]

    assert rates == [10 * MINUTES, 10 * MINUTES, 15 * MINUTES, 15 * MINUTES, 15 * MINUTES, 22.5 * MINUTES]


async def test_each_change_is_an_event_with_its_reason_and_no_change_is_none(sqlite_store: SqlStore) -> None:
    sampling = Sampling(sqlite_store, ORGANISATION, SETTINGS)
    for anomalies in (1, 0, 0, 0, 0):
        await sampling.looked("sales", anomalies=anomalies, at=START)

    events = await sqlite_store.ledger.read(f"sampling/{ORGANISATION}/sales")

    told = [(data["from_s"], data["to_s"], data["because"], data["looks"]) for event in events if (data := event.data)]
    assert told == [(600, 300, "anomalies", 1), (300, 450, "calm", 3)]


async def test_a_rate_is_known_to_whoever_goes_on(sqlite_store: SqlStore) -> None:
    await Sampling(sqlite_store, ORGANISATION, SETTINGS).looked("sales", anomalies=1, at=START)

    rates = await Sampling(sqlite_store, ORGANISATION, SETTINGS).rates()

    assert {name: rate.every for name, rate in rates.items()} == {"sales": 5 * MINUTES}


def test_a_sensor_is_due_when_its_time_has_passed() -> None:
    rate = Rate("sales", 10 * MINUTES)

    assert [rate.due(START, START + 9 * MINUTES), rate.due(START, START + 10 * MINUTES), rate.due(None, START)] == [
        False, True, True,
    ]  # fmt: skip


@given(st.lists(st.integers(0, 2), max_size=60))
def test_whatever_is_found_the_rate_stays_within_its_bounds(found: list[int]) -> None:
    rate, calm = Rate("sales", timedelta(seconds=SETTINGS.look_every_s)), 0
    for anomalies in found:
        calm = 0 if anomalies else calm + 1
        rate = next_rate(rate, anomalies=anomalies, calm=calm, at=START, settings=SETTINGS)

        assert SETTINGS.look_least_s <= rate.every.total_seconds() <= SETTINGS.look_most_s
