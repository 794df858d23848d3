"""Event sensors on every store: each event once over deaths and rivals, and nobody wakes itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from agents.cognition.sense import Raise
from agents.cognition.sense.event import EventDefinition
from agents.cognition.sense.listening import Listening
from contracts import ExecutionId, ExecutionRequest, Signal
from runtime.errors import StaleWriter, VersionConflict
from runtime.executor.register import Register
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent, Store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.agents.cognition.sense.timing import utc
from tests.fakes.clock import HandClock
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.stores import lay_empty_ledger

pytestmark = pytest.mark.anyio
NOW = utc("2026-12-01T10:00")
NOTED = EventDefinition("noted", ("note.*",), when="data.n > 0", key="{{ subject }}:{{ data.n }}")
OWNERS = {"look": ("reviewer",), "answer": ("clerk",), "steer": ("head",)}


def listening(store: Store, *definitions: EventDefinition) -> Listening:
    return Listening(
        store.ledger, "acme", {each.name: each for each in definitions},
        lambda raises: OWNERS.get(str(raises.skill), ()), chain_length=5,
    )  # fmt: skip


async def happen(
    store: Store, type_: str, data: Mapping[str, Any], stream: str = "note/one", organisation: str = "acme",
    execution: ExecutionId | None = None,
) -> None:  # fmt: skip
    version = len(await store.ledger.read(stream))
    await store.ledger.append(
        Append(stream, [NewEvent(type_, data)], version, organisation, f"/organisation/{organisation}", execution)
    )


async def execution(store: Store, *, requested_by: str = "ana", caused_by: tuple[str, ...] = ()) -> ExecutionId:
    request = ExecutionRequest(organisation="acme", goal="work", requested_by=requested_by, caused_by=caused_by)
    return (await Register(store).submit(request, "0" * 64, Path("/org"), [b"bundle"])).execution_id


async def order(store: Store, of: ExecutionId, employee: str, name: str, *, root: bool = False) -> str:
    stream = f"order/{of.ulid}-{name}"
    chain = [] if root else [{"order_id": "order/root", "employee": "head"}]
    await happen(store, "order.accepted", {"order": {"employee": employee, "chain": chain}}, stream, execution=of)
    return stream


async def signals(store: Store, sensor: str = "noted") -> list[dict[str, Any]]:
    events = await store.ledger.read(f"sensor/acme/{sensor}")
    return [dict(event.data or {}) for event in events if event.type == "signal.raised"]


async def told(store: Store) -> list[int]:
    return [int(data["signal"]["key"].rpartition(":")[2]) for data in await signals(store)]


async def test_it_listens_from_when_it_was_first_read_to_what_fits_and_matters(store: SqlStore) -> None:
    await happen(store, "note.written", {"n": 1})
    one = listening(store, NOTED)
    assert await one.turn(NOW) == []
    await happen(store, "note.written", {"n": 2})
    await happen(store, "note.written", {"n": 0})
    await happen(store, "letter.written", {"n": 3})
    await happen(store, "note.written", {"n": 4}, stream="note/other", organisation="others")
    found = await one.turn(NOW)

    assert [(each.sensor, each.kind.value, each.key) for each in found] == [("noted", "event", "noted:note/one:2")]
    assert await told(store) == [2]
    assert await one.turn(NOW) == []


async def test_a_new_server_goes_on_where_the_last_one_came_to(store: SqlStore) -> None:
    await listening(store, NOTED).turn(NOW)
    for n in range(1, 4):
        await happen(store, "note.written", {"n": n})
    await listening(store, NOTED).turn(NOW)
    await happen(store, "note.written", {"n": 4})
    await listening(store, NOTED).turn(NOW)

    assert await told(store) == [1, 2, 3, 4]


@pytest.mark.parametrize("committed", [False, True])
async def test_killed_at_any_append_it_hears_everything_once(store: SqlStore, committed: bool) -> None:
    for at in count():
        sensor = EventDefinition(f"s{at}-{committed}".lower(), ("note.*",), key="{{ data.n }}")
        dying = CrashingStore(store, at, committed=committed)
        one, died = listening(dying, sensor), False
        for n in range(1, 4):
            try:
                await one.turn(NOW)
                await happen(store, "note.written", {"n": n})
                await one.turn(NOW)
            except Crash:
                died = True
                one = listening(store, sensor)
                if n == 1 and not await store.ledger.cursors("sensors/acme"):
                    await one.turn(NOW)
                await one.turn(NOW)
        heard = [data["signal"]["key"].rpartition(":")[2] for data in await signals(store, sensor.name)]
        assert heard == [str(n) for n in range(4 - len(heard), 4)] and len(heard) >= (2 if at < 2 else 3)
        if not died:
            return


async def test_two_servers_at_once_hear_everything_once(store: SqlStore) -> None:
    rivals = [listening(store, NOTED) for _ in range(3)]
    await rivals[0].turn(NOW)
    for n in range(1, 6):
        await happen(store, "note.written", {"n": n})
        for ended in await asyncio.gather(*(each.turn(NOW) for each in rivals), return_exceptions=True):
            assert isinstance(ended, list | VersionConflict)
    await rivals[0].turn(NOW)

    assert await told(store) == [1, 2, 3, 4, 5]


async def test_without_the_lease_it_hears_nothing(store: SqlStore, clock: HandClock) -> None:
    lease = await store.leases.acquire("beat/acme", "one", 15)
    one = listening(store, NOTED)
    await one.turn(NOW, lease)
    clock.advance(20)
    await store.leases.acquire("beat/acme", "two", 15)
    await happen(store, "note.written", {"n": 1})

    with pytest.raises(StaleWriter):
        await one.turn(NOW, lease)
    assert await told(store) == []


async def test_a_condition_that_cannot_be_worked_out_is_told_and_hinders_nothing(sqlite_store: SqlStore) -> None:
    one = listening(sqlite_store, NOTED)
    await one.turn(NOW)
    await happen(sqlite_store, "note.written", {"other": 1})
    await happen(sqlite_store, "note.written", {"n": 2})
    await one.turn(NOW)

    assert await told(sqlite_store) == [2]
    (cursor,) = await sqlite_store.ledger.cursors("sensors/acme")
    assert cursor.data is not None and "data.n" in cursor.data["told"]["noted"]["problem"]["message"]


LOUD = EventDefinition("loud", ("note.*",), raises=Raise("Look at {{ subject }}", "look", {}, "goal"))


async def heard(store: Store, sensor: EventDefinition, by: ExecutionId, stream: str = "note/one") -> list[Signal]:
    one = listening(store, sensor)
    await one.turn(NOW)
    await happen(store, "note.written", {"n": 1}, stream, execution=by)
    return await one.turn(NOW)


async def test_what_a_sensor_led_to_does_not_wake_it_however_long_the_chain(sqlite_store: SqlStore) -> None:
    own = await execution(sqlite_store, requested_by="sensor/loud", caused_by=("sensor/loud",))
    far = await execution(
        sqlite_store, requested_by="sensor/other", caused_by=("sensor/loud", str(own), "sensor/other")
    )
    free = await execution(sqlite_store, requested_by="sensor/other", caused_by=("sensor/other",))

    assert await heard(sqlite_store, LOUD, own) == []
    assert await heard(sqlite_store, LOUD, far) == []
    assert len(await heard(sqlite_store, LOUD, free)) == 1
    (raised,) = await signals(sqlite_store, "loud")
    assert raised["caused_by"] == ["sensor/other", str(free)]
    (cursor,) = await sqlite_store.ledger.cursors("sensors/acme")
    assert cursor.data is not None and cursor.data["told"]["loud"]["held_back"] == 2


async def test_a_round_wakes_nobody(sqlite_store: SqlStore) -> None:
    assert await heard(sqlite_store, LOUD, await execution(sqlite_store, requested_by="heartbeat/acme")) == []


@pytest.mark.parametrize(
    ("skill", "writer", "wakes"),
    [
        ("answer", "clerk", False),  # its own word
        ("answer", "manager", False),  # its own word, passed on by its manager
        ("answer", "root", False),  # and by the head
        ("look", "clerk", True),  # somebody who had no part in it
        ("steer", "clerk", True),  # the head had the first order, as of every execution, and wrote nothing
        ("steer", "root", False),
    ],
)
async def test_what_an_employee_says_does_not_wake_it_also_via_its_manager(
    sqlite_store: SqlStore, skill: str, writer: str, wakes: bool
) -> None:
    by = await execution(sqlite_store)
    streams = {
        "root": await order(sqlite_store, by, "head", "root", root=True),
        "manager": await order(sqlite_store, by, "manager", "two"),
        "clerk": await order(sqlite_store, by, "clerk", "three"),
    }
    sensor = EventDefinition("loud", ("note.*",), raises=Raise("Go on", skill, {}, "goal"))

    assert len(await heard(sqlite_store, sensor, by, streams[writer])) == wakes


WAKES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=4)


@given(WAKES)
@hypothesis_settings(max_examples=25, deadline=None)
def test_no_ring_of_sensors_and_runs_goes_round(wakes: list[tuple[str, str]]) -> None:
    """Each sensor hears notes of one letter and its runs write notes of another: all of it ends by itself."""
    asyncio.run(_go_round(wakes))


async def _go_round(wakes: list[tuple[str, str]]) -> None:
    sensors = [
        EventDefinition(f"s{n}", (f"{hears}.written",), raises=Raise("x", says, {}, "goal"))
        for n, (hears, says) in enumerate(wakes)
    ]
    with TemporaryDirectory() as home:
        lay_empty_ledger(Path(home))
        store = await open_store(LedgerSettings(synchronous="NORMAL"), home=Path(home), clock=HandClock())
        one = listening(store, *sensors)
        await one.turn(NOW)
        for letter in "abc":
            await happen(store, f"{letter}.written", {}, f"begin/{letter}")
        for _ in range(len(sensors) + 1):
            found = await one.turn(NOW)
            for signal in found:
                await _follow(store, signal, dict(zip((each.name for each in sensors), wakes, strict=True)))
        assert found == []
        await store.close()


async def _follow(store: SqlStore, signal: Signal, wakes: Mapping[str, tuple[str, str]]) -> None:
    """Run what the signal raises: it writes what wakes others."""
    raised = await signals(store, signal.sensor)
    (data,) = (each for each in raised if each["signal"]["signal_id"] == signal.signal_id)
    chain = (*data["caused_by"], f"sensor/{signal.sensor}")
    assert len(set(chain)) == len(chain)
    by = await execution(store, requested_by=f"sensor/{signal.sensor}", caused_by=chain)
    await happen(store, f"{wakes[signal.sensor][1]}.written", {}, f"note/{by.ulid}", execution=by)
