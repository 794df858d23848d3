"""Each instant becomes one execution: over outages, crashes and rivals, on every store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from agents.cognition.sense import Raise
from agents.cognition.sense.cron import CatchUp, CronDefinition
from agents.cognition.sense.timekeeping import Timekeeper
from agents.cognition.sense.timetable import stands
from contracts import ExecutionRequest
from runtime.errors import StaleWriter, VersionConflict
from runtime.executor.register import Register
from runtime.ledger.store import SqlStore
from tests.agents.cognition.sense.timing import HOURLY, asked, keeper, utc
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore

pytestmark = pytest.mark.anyio
BEGIN = "2026-03-29T00:30"


async def test_a_sensor_begins_when_it_is_first_read_and_asks_at_each_time(store: SqlStore) -> None:
    one = keeper(store, HOURLY)
    await one.turn(utc(BEGIN))
    assert await asked(store) == []
    for hour in ("01:00", "01:30", "02:00:01"):
        await one.turn(utc(f"2026-03-29T{hour}"))

    assert await asked(store) == ["Look at 2026-03-29 01:00", "Look at 2026-03-29 02:00"]
    (first, _) = await Register(store).list(organisation="acme")
    assert first.request.known_at == utc("2026-03-29T01:00")
    assert (first.request.requested_by, first.request.caused_by) == ("sensor/hourly", ("sensor/hourly",))


@pytest.mark.parametrize(
    ("catch_up", "expected"),
    [
        (CatchUp.ALL, ["01:00", "02:00", "03:00", "04:00"]),
        (CatchUp.LAST, ["04:00"]),
        (CatchUp.SKIP, []),
    ],
)
async def test_what_was_due_while_nobody_watched_is_made_up_for_by_the_rule(
    store: SqlStore, catch_up: CatchUp, expected: list[str]
) -> None:
    sensor = replace(HOURLY, catch_up=catch_up)
    await keeper(store, sensor).turn(utc(BEGIN))
    again = keeper(store, sensor)
    await again.turn(utc("2026-03-29T04:30"))
    await again.turn(utc("2026-03-29T04:45"))
    assert await asked(store) == [f"Look at 2026-03-29 {each}" for each in expected]

    await again.turn(utc("2026-03-29T05:00"))
    assert (await asked(store))[-1] == "Look at 2026-03-29 05:00"


@pytest.mark.parametrize(
    ("zone", "down", "up"),
    [
        ("Europe/Berlin", "2026-03-29T00:30", "2026-03-29T06:30"),
        ("Europe/Berlin", "2026-10-24T23:30", "2026-10-25T06:30"),
        ("America/Santiago", "2026-09-06T03:30", "2026-09-06T09:30"),
        ("America/Santiago", "2026-04-05T02:10", "2026-04-05T09:30"),
        ("Australia/Lord_Howe", "2026-10-03T14:40", "2026-10-03T20:45"),
        ("Australia/Lord_Howe", "2026-04-04T14:40", "2026-04-04T20:45"),
    ],
)
@pytest.mark.parametrize("catch_up", CatchUp)
async def test_down_over_a_change_of_clocks_it_makes_up_for_what_it_would_have_done(
    sqlite_store: SqlStore, zone: str, down: str, up: str, catch_up: CatchUp
) -> None:
    sensors = [
        CronDefinition(name, cron, zone, catch_up=catch_up, raises=Raise(f"{name} {{{{ at }}}}", "look"))
        for name, cron in (("nightly", "30 2 * * *"), ("hourly", "0 * * * *"))
    ]
    watched = [replace(each, name=f"watched-{each.name}") for each in sensors]
    attentive = keeper(sqlite_store, *watched)
    await keeper(sqlite_store, *sensors).turn(utc(down))
    await attentive.turn(utc(down))
    moment = utc(down)
    while moment < utc(up):
        moment = min(utc(up), moment.fromtimestamp(moment.timestamp() + 60, moment.tzinfo))
        await attentive.turn(moment)
    await keeper(sqlite_store, *sensors).turn(utc(up))

    views = await Register(sqlite_store).list(organisation="acme")
    for sensor in sensors:
        whole = [v.request.known_at for v in views if v.request.requested_by == f"sensor/watched-{sensor.name}"]
        made_up = [v.request.known_at for v in views if v.request.requested_by == f"sensor/{sensor.name}"]
        assert made_up == {CatchUp.ALL: whole, CatchUp.LAST: whole[-1:], CatchUp.SKIP: []}[catch_up]


async def test_what_is_a_little_late_was_not_missed(sqlite_store: SqlStore) -> None:
    sensor = replace(HOURLY, catch_up=CatchUp.SKIP)
    await keeper(sqlite_store, sensor).turn(utc(BEGIN))
    await keeper(sqlite_store, sensor, late_s=300).turn(utc("2026-03-29T01:04"))

    assert await asked(sqlite_store) == ["Look at 2026-03-29 01:00"]


async def test_of_a_long_outage_the_newest_are_made_up_for_and_the_rest_is_told(sqlite_store: SqlStore) -> None:
    await keeper(sqlite_store, HOURLY).turn(utc(BEGIN))
    await keeper(sqlite_store, HOURLY, catch_up_most=3).turn(utc("2026-03-31T00:30"))

    assert [goal[-5:] for goal in await asked(sqlite_store)] == ["22:00", "23:00", "00:00"]
    told = [event.data for event in await sqlite_store.ledger.read("sensor/acme/hourly")]
    assert told[1] is not None and (told[1]["until"], told[1]["more"]) == ("2026-03-30T21:00:00Z", True)


async def test_two_servers_at_once_ask_once_for_each_time(store: SqlStore) -> None:
    sensors = [replace(HOURLY, name=f"s{number}") for number in range(5)]
    rivals = [keeper(store, *sensors) for _ in range(3)]
    for hour in ("00:30", "01:00", "02:00", "03:00"):
        turns = [rival.turn(utc(f"2026-03-29T{hour}")) for rival in rivals]
        for error in await asyncio.gather(*turns, return_exceptions=True):
            assert isinstance(error, list | VersionConflict)
    await keeper(store, *sensors).turn(utc("2026-03-29T03:01"))

    assert sorted(await asked(store)) == sorted(f"Look at 2026-03-29 0{n}:00" for n in (1, 2, 3) for _ in sensors)


@pytest.mark.parametrize("committed", [False, True])
async def test_killed_at_any_append_the_next_server_loses_and_doubles_nothing(
    store: SqlStore, committed: bool
) -> None:  # fmt: skip
    hours = ["00:30", "01:00", "02:10", "05:00"]
    for at in count():
        name = f"s{at}-{'after' if committed else 'before'}"
        sensor = replace(HOURLY, name=name)
        dying = CrashingStore(store, at, committed=committed)
        died = False
        one = keeper(dying, sensor)
        for hour in hours:
            try:
                await one.turn(utc(f"2026-03-29T{hour}"))
            except Crash:
                died = True
                one = keeper(store, sensor)
                await one.turn(utc(f"2026-03-29T{hour}"))
        views = await Register(store).list(organisation="acme")
        asked_for = [v.request.known_at for v in views if v.request.requested_by == f"sensor/{name}"]
        assert asked_for == [utc(f"2026-03-29T0{n}:00") for n in range(1, 6)], f"killed at append {at}"
        if not died:
            break
    assert at == 6  # the beginning and five times, each one append


async def test_a_server_that_lost_its_lease_asks_for_nothing(store: SqlStore, clock: HandClock) -> None:
    lease = await store.leases.acquire("beat/acme", "one", 15)
    one = keeper(store, HOURLY)
    await one.turn(utc(BEGIN), lease)
    clock.advance(20)
    assert await store.leases.acquire("beat/acme", "two", 15) is not None

    with pytest.raises(StaleWriter):
        await one.turn(utc("2026-03-29T01:00"), lease)
    assert await asked(store) == []


async def test_another_schedule_counts_from_when_it_is_read(sqlite_store: SqlStore) -> None:
    await keeper(sqlite_store, HOURLY).turn(utc(BEGIN))
    changed = replace(HOURLY, cron="15 * * * *")
    again = keeper(sqlite_store, changed)
    await again.turn(utc("2026-03-29T04:30"))
    await again.turn(utc("2026-03-29T05:20"))

    assert await asked(sqlite_store) == ["Look at 2026-03-29 05:15"]


async def test_other_words_of_the_same_schedule_change_nothing_of_what_is_settled(sqlite_store: SqlStore) -> None:
    await keeper(sqlite_store, HOURLY).turn(utc(BEGIN))
    other = replace(HOURLY, raises=Raise("Check {{ time }}", "look"))
    await keeper(sqlite_store, other).turn(utc("2026-03-29T02:00"))

    assert await asked(sqlite_store) == ["Check 01:00", "Check 02:00"]


async def test_a_goal_that_cannot_be_asked_for_is_recorded_and_does_not_hold_up_the_next(
    sqlite_store: SqlStore,
) -> None:
    sensor = replace(HOURLY, raises=Raise("Look at {{ nobody }}", "look"))
    one = keeper(sqlite_store, sensor)
    await one.turn(utc(BEGIN))
    (settled,) = await one.turn(utc("2026-03-29T01:00"))
    assert settled.problem is not None and "nobody" in settled.problem.message
    assert await one.turn(utc("2026-03-29T01:30")) == []
    assert (await stands(sqlite_store.ledger, "acme", ["hourly"]))["hourly"].until == utc("2026-03-29T01:00")


async def test_a_key_that_somebody_used_for_something_else_is_not_used_again(sqlite_store: SqlStore) -> None:
    one = keeper(sqlite_store, HOURLY)
    await one.turn(utc(BEGIN))
    other = ExecutionRequest(
        organisation="acme", goal="mine", requested_by="ana", idempotency_key="sensor:hourly:2026-03-29T01:00:00Z"
    )
    await Register(sqlite_store).submit(other, "0" * 64, Path("/org"), [b"bundle"])
    await one.turn(utc("2026-03-29T02:00"))

    assert sorted(await asked(sqlite_store)) == ["Look at 2026-03-29 02:00", "mine"]


def test_what_is_not_known_yet_is_due_at_once() -> None:
    assert Timekeeper(None, "acme", {}, None, settings=None).next_at == 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_clock_that_ran_ahead_and_is_set_right_stops_nothing(sqlite_store: SqlStore, restarted: bool) -> None:
    sensor = replace(HOURLY, catch_up=CatchUp.LAST)
    one = keeper(sqlite_store, sensor)
    await one.turn(utc(BEGIN))
    await one.turn(utc("2026-03-29T01:10"))
    await one.turn(utc("2028-03-29T01:10"))  # for a moment two years ahead
    if restarted:
        one = keeper(sqlite_store, sensor)
    for time in ("01:20", "02:10", "03:10"):
        await one.turn(utc(f"2026-03-29T{time}"))
    expected = ["2026-03-29 01:00", "2028-03-29 01:00", "2026-03-29 02:00", "2026-03-29 03:00"]
    assert sorted(await asked(sqlite_store)) == sorted(f"Look at {each}" for each in expected)


async def test_a_clock_that_goes_back_over_what_was_done_does_nothing_twice(sqlite_store: SqlStore) -> None:
    one = keeper(sqlite_store, HOURLY)
    await one.turn(utc(BEGIN))
    for time in ("01:00", "02:00", "03:00", "04:00", "01:30", "02:00", "03:00", "04:00", "05:00"):
        await one.turn(utc(f"2026-03-29T{time}"))
    assert await asked(sqlite_store) == [f"Look at 2026-03-29 0{hour}:00" for hour in range(1, 6)]
