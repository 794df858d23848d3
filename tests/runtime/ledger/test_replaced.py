"""Another ledger stands behind the address of an open one: restored, or a replica that lacks the last commits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text

from runtime.errors import LedgerError
from runtime.ledger import open_store
from runtime.ledger.database import parse_address
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.schema import counter, metadata
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio


def fact(stream: str, kind: str) -> Append:
    return Append(stream, [NewEvent(kind, {})], 0, "acme", "/organisation/acme")


def cut(connection: Connection) -> None:
    """End every other connection, as a failover does."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
        return
    others = text("SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()")
    for number in connection.execute(others).scalars().all():
        connection.execute(text(f"KILL {number}"))


def take_away(connection: Connection) -> None:
    """Take the tables away for as long as it takes to notice, as a restore from a dump does."""
    connection.execute(text("DROP TABLE snapshots"))


@pytest.mark.parametrize("how", [cut, take_away])
@pytest.mark.parametrize("store_url", ["mysql", "postgresql"], indirect=True)
async def test_names_of_the_ledger_that_was_there_before_are_not_taken_for_those_of_the_new_one(
    store: SqlStore, store_url: str, tmp_path: Path, how: Callable[[Connection], None]
) -> None:
    for number in range(3):
        await store.ledger.append(fact(f"order/{number}", f"step.before{number}"))
    assert len(await store.ledger.read_all()) == 3
    engine = create_engine(parse_address(store_url))
    with engine.begin() as connection:
        how(connection)
    if how is take_away:
        with pytest.raises(LedgerError):
            await store.ledger.snapshots("order/1")
    with engine.begin() as connection:
        metadata.create_all(connection)
        for table in metadata.sorted_tables:
            if table is not counter:
                connection.execute(table.delete())
        connection.execute(counter.update().values(position=0))
    engine.dispose()
    other = await open_store(LedgerSettings(url=store_url), home=tmp_path, clock=HandClock())
    await other.ledger.append(fact("card/x", "card.raised"), fact("order/2", "step.after"))

    told = [(event.subject, event.type) for event in await store.ledger.read_all()]

    assert told == [("card/x", "card.raised"), ("order/2", "step.after")]
    await store.ledger.append(fact("order/y", "step.after"))
    assert await other.ledger.verify() == []
    await other.close()
