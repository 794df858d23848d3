"""A ledger of the first schema, with everything that it may hold, becomes one of today's, and its chains stay whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text

from runtime.errors import LedgerError
from runtime.ledger import open_store, upgrade
from runtime.ledger.database import Database, parse_address
from runtime.ledger.migrate import run_migrations
from runtime.ledger.port import Append, Lease, NewEvent
from runtime.ledger.rows import link, time_from_text
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.stores import KINDS, empty_server_database

pytestmark = pytest.mark.anyio
EXECUTION = "execution/01J9ZZZZZZZZZZZZZZZZZZZZZZ"
TIME = "2013-02-09T00:00:00.000007Z"
BLANK = "/organisation/acme "
"""MySQL would find a text with a blank at its end equal to the one without."""


@pytest.fixture(params=KINDS)
def old_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a ledger of the first schema: 450 events of three streams, one of them erased."""
    if request.param == "sqlite":
        yield filled(f"sqlite:///{tmp_path / 'silicon.db'}")
    else:
        for url in empty_server_database(request.param, migrate=False):
            yield filled(url)


def filled(url: str) -> str:
    database = Database(parse_address(url), LedgerSettings())
    with database.engine.connect() as connection:
        run_migrations(database, connection, None, to="0001")
        for table, rows in old_rows().items():
            columns = ", ".join(f":{name}" for name in rows[0])
            connection.execute(text(f"INSERT INTO {table} VALUES ({columns})"), rows)
        connection.execute(text("UPDATE counter SET position = 451"))
    database.engine.dispose()
    return url


def old_rows() -> dict[str, list[dict[str, Any]]]:
    """The rows that the first program would have stored."""
    events: list[dict[str, Any]] = []
    payloads: list[dict[str, Any]] = []
    heads: dict[str, dict[str, Any]] = {}
    for position in range(1, 452):
        stream = f"order/{'αb☃'[position % 3]}" if position < 451 else "erasure/acme"
        head = heads.get(stream, {"version": 0, "chain_sha256": "", "first_position": position})
        data = f'{{"n":{position}}}'.encode()
        if position == 451:
            sha256 = events[6]["payload_sha256"]
            data = f'{{"payload_sha256":"{sha256}","position":7,"stream":"order/b","version":3}}'.encode()
        row: dict[str, Any] = {
            "position": position, "stream": stream, "version": head["version"] + 1,
            "id": f"event/01J9{position:022d}", "type": "payload.erased" if position == 451 else "step.finished",
            "time": TIME, "source": BLANK if position == 5 else "/organisation/acme", "organisation": "acme",
            "execution_id": EXECUTION if position % 2 else None, "trace_id": "t" if position % 5 else None,
            "payload_sha256": hashlib.sha256(data).hexdigest(),
        }  # fmt: skip
        row["chain_sha256"] = link(head["chain_sha256"], tuple(row.values()))
        events.append(row)
        erased = position == 7
        payloads.append({"position": position, "data": None if erased else data, "erased_at": TIME if erased else None})
        heads[stream] = {
            "stream": stream, "kind": stream.partition("/")[0], "organisation": "acme",
            "first_position": head["first_position"], "version": row["version"],
            "chain_sha256": row["chain_sha256"], "last_type": row["type"], "updated_at": TIME,
        }  # fmt: skip
    leases = [{"name": "slot/a", "holder": "me", "fence": 7, "expires_at": "2013-02-10T00:00:00.000000Z"}]
    return {"events": events, "payloads": payloads, "streams": list(heads.values()), "leases": leases}


async def test_everything_is_there_after_the_migration(old_url: str, tmp_path: Path) -> None:
    upgrade(old_url)
    store = await open_store(LedgerSettings(url=old_url), home=tmp_path, clock=HandClock())

    assert await store.ledger.verify() == []
    events = await store.ledger.read_all()
    old = old_rows()["events"]
    assert [event.position for event in events] == list(range(1, 452))
    for event, row in zip(events, old, strict=True):
        assert (event.id, event.subject, event.type, event.time) == (
            row["id"], row["stream"], row["type"], time_from_text(row["time"])
        )  # fmt: skip
        assert (event.source, event.execution_id, event.trace_id) == (
            row["source"], row["execution_id"], row["trace_id"]
        )  # fmt: skip
        assert (event.payload_sha256, event.chain_sha256) == (row["payload_sha256"], row["chain_sha256"])
        assert event.data == (None if event.position == 7 else event.data)
    assert events[0].data == {"n": 1}
    assert await store.leases.live() == [Lease("slot/a", "me", 7, time_from_text("2013-02-10T00:00:00.000000Z"))]
    await store.close()


async def test_the_chains_go_on_after_the_migration(old_url: str, tmp_path: Path) -> None:
    upgrade(old_url)
    store = await open_store(LedgerSettings(url=old_url), home=tmp_path, clock=HandClock())

    fact = Append("order/b", [NewEvent("step.finished", {})], 150, "acme", "/organisation/acme")
    (event,) = await store.ledger.append(fact)

    assert event.position == 452
    assert await store.ledger.verify() == []
    await store.close()


@pytest.mark.parametrize("old_url", ["mysql"], indirect=True)
def test_a_migration_that_was_killed_begins_again(old_url: str) -> None:
    """Only MySQL shows half of a migration; the others undo it."""
    with connected(old_url) as (database, connection):
        connection.execute(text("RENAME TABLE events TO old_events, payloads TO old_payloads"))
        connection.execute(text("RENAME TABLE streams TO old_streams, leases TO old_leases"))
        connection.execute(text("CREATE TABLE names (half INTEGER)"))
        run_migrations(database, connection, "0001")
        assert {name for name in inspect(connection).get_table_names() if name.startswith("old_")} == set()
        assert connection.execute(text("SELECT count(*) FROM events")).scalar() == 451


@pytest.mark.parametrize("old_url", ["mysql"], indirect=True)
def test_a_migration_that_was_killed_while_it_cleaned_up_ends(old_url: str) -> None:
    with connected(old_url) as (database, connection):
        run_migrations(database, connection, "0001")
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
        for left in (("old_leases", "old_events"), ("old_events",), ()):
            for name in left:
                connection.execute(text(f"CREATE TABLE {name} (half INTEGER)"))
            run_migrations(database, connection, "0001")
            connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
            assert {name for name in inspect(connection).get_table_names() if name.startswith("old_")} == set()
        assert connection.execute(text("SELECT count(*) FROM events")).scalar() == 451


@pytest.mark.parametrize(
    "change",
    ["UPDATE events SET time = 'yesterday' WHERE position = 9", "UPDATE events SET id = 'event/1' WHERE position = 9",
     "UPDATE events SET chain_sha256 = 'x' WHERE position = 9", "UPDATE streams SET updated_at = '' ",
     "UPDATE payloads SET position = 1000 WHERE position = 9"],
)  # fmt: skip
def test_a_ledger_changed_by_hand_is_refused_and_stays_as_it_is(old_url: str, change: str) -> None:
    with connected(old_url) as (_, connection):
        connection.execute(text(change))

    with pytest.raises(LedgerError, match="changed by hand"):
        upgrade(old_url)

    with connected(old_url) as (_, connection):
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "0001"
        assert connection.execute(text("SELECT count(*) FROM payloads")).scalar() == 451
        names = set(inspect(connection).get_table_names())
    assert not {name for name in names if name.startswith("old_")} and "names" not in names


class connected:  # noqa: N801
    """A connection to the database at an address."""

    def __init__(self, url: str) -> None:
        self.database = Database(parse_address(url), LedgerSettings())

    def __enter__(self) -> tuple[Database, Connection]:
        self.connection = self.database.engine.connect()
        return self.database, self.connection

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self.database.engine.dispose()
