"""Backup and restore: one file from any database into an empty one of any kind, whole or not at all."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.bus.identity import ROW as IDENTITY
from runtime.errors import LedgerError, LedgerUnavailable
from runtime.keeping import Restored, back_up, export_execution, prune, restore, restoring
from runtime.keeping.errors import BackupUnfit, FileInUse, FileNotUsable, TargetInUse
from runtime.ledger import open_store
from runtime.ledger.port import Cursor, NewEvent, Snapshot
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.runtime.keeping.history import add, execution
from tests.stores import KINDS, empty_server_database

pytestmark = pytest.mark.anyio


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LedgerSettings]:
    """Settings of a database of each kind in which there is nothing, not even tables."""
    if request.param == "sqlite":
        yield LedgerSettings(url=f"sqlite:///{tmp_path / 'new' / 'silicon.db'}")
    else:
        for url in empty_server_database(request.param, migrate=False):
            yield LedgerSettings(url=url)


async def lived_in(store: SqlStore, clock: HandClock) -> None:
    """Leave something of every kind in the ledger."""
    await execution(store, result=bytes(range(256)) * 40_000)
    clock.advance(31 * 86_400)
    young = await execution(store)
    await prune(store, clock, days=30, stream_only_days=7, still_asks=lambda events: False)
    await store.ledger.erase(f"order/{young.ulid}", 2)
    store.fragments.write(f"order/{young.ulid}", NewEvent("model.said", {"text": "鸟"}), execution_id=young)
    await store.fragments.flush()
    await store.leases.acquire("execution/held", "server:1", 15)
    cursors = [Cursor("bus/learn", 3, None, {"seen": 1}), Cursor(IDENTITY, 1, None, {"id": "me"})]
    await store.ledger.append(cursors=cursors, snapshots=[Snapshot(f"order/{young.ulid}", 2, b"folded")])


async def everything(store: SqlStore) -> list[object]:
    """Return what a ledger holds, as its ports give it."""
    events = await store.ledger.read_all(limit=10_000)
    streams = sorted({event.subject for event in events})
    return [
        events,
        [await store.ledger.snapshots(stream) for stream in streams],
        await store.fragments.read(),
        await store.leases.live(),
        [cursor for cursor in await store.ledger.cursors() if cursor.name != IDENTITY],
        await store.ledger.horizon(),
    ]


async def restored(settings: LedgerSettings, path: Path) -> Restored:
    return await asyncio.to_thread(restore, settings, path.parent, path)


async def test_what_was_backed_up_is_there_after_the_restore(
    store: SqlStore, clock: HandClock, target: LedgerSettings, tmp_path: Path
) -> None:
    await lived_in(store, clock)
    before = await everything(store)

    made = await back_up(store, tmp_path / "backup.db")
    put_back = await restored(target, tmp_path / "backup.db")

    assert made.faults == () and put_back.rows == made.rows
    assert put_back.position == made.position == await store.ledger.head()
    again = await open_store(target, home=tmp_path, clock=clock)
    assert await everything(again) == before
    assert await again.ledger.verify() == []
    assert [cursor.name for cursor in await again.ledger.cursors()] == ["bus/learn"]  # it is another ledger
    await add(again, "order/new", "order.accepted")
    again.fragments.write("order/new", NewEvent("model.said"))
    await again.fragments.flush()
    assert len(await again.fragments.read()) == 2
    await again.close()


async def test_the_file_is_a_ledger_that_only_its_owner_may_read(
    store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    await lived_in(store, clock)
    path = tmp_path / "backup.db"
    await back_up(store, path)

    assert path.stat().st_mode & 0o777 == 0o600
    assert [name for name in left_over(tmp_path) if "partial" in name] == []
    opened = await open_store(LedgerSettings(url=f"sqlite:///{path}"), home=tmp_path, clock=clock)
    assert await opened.ledger.verify() == []
    assert await opened.ledger.read_all() == await store.ledger.read_all()
    await opened.close()


async def test_a_backup_of_one_moment_while_others_write(store: SqlStore, clock: HandClock, tmp_path: Path) -> None:
    await execution(store)
    done = asyncio.Event()

    async def work() -> None:
        while not done.is_set():
            await execution(store)

    working = asyncio.create_task(work())
    made = await back_up(store, tmp_path / "backup.db")
    done.set()
    await working

    assert made.faults == ()
    opened = await open_store(LedgerSettings(url=f"sqlite:///{tmp_path / 'backup.db'}"), home=tmp_path, clock=clock)
    assert await opened.ledger.read_all(limit=10_000) == (await store.ledger.read_all(limit=10_000))[: made.position]
    await opened.close()


async def test_a_backup_tells_what_the_audit_finds_in_it(sqlite_store: SqlStore, tmp_path: Path) -> None:
    await execution(sqlite_store)
    with closing(sqlite3.connect(sqlite_store.address)) as connection:
        connection.execute("UPDATE events SET data = x'7b7d' WHERE position = 4")
        connection.commit()

    made = await back_up(sqlite_store, tmp_path / "backup.db")

    assert [fault.position for fault in made.faults] == [4]
    with pytest.raises(BackupUnfit, match="not as it was written: order/"):
        await restored(LedgerSettings(url=f"sqlite:///{tmp_path / 'new.db'}"), tmp_path / "backup.db")
    assert not (tmp_path / "new.db").exists()


async def test_a_value_that_no_column_holds_is_told(sqlite_store: SqlStore, tmp_path: Path) -> None:
    await execution(sqlite_store)
    with closing(sqlite3.connect(sqlite_store.address)) as connection:
        connection.execute("UPDATE events SET chain_sha256 = 'text' WHERE position = 4")
        connection.commit()

    with pytest.raises(LedgerError, match="A row of the table events was changed"):
        await back_up(sqlite_store, tmp_path / "backup.db")
    assert not (tmp_path / "backup.db").exists()


async def test_nothing_is_written_over(sqlite_store: SqlStore, tmp_path: Path) -> None:
    (tmp_path / "backup.db").write_text("mine")
    with pytest.raises(FileInUse):
        await back_up(sqlite_store, tmp_path / "backup.db")
    with pytest.raises(FileNotUsable, match="No such file or directory"):
        await back_up(sqlite_store, tmp_path / "nowhere" / "backup.db")

    with pytest.raises(FileNotUsable, match="File name too long"):
        await back_up(sqlite_store, tmp_path / ("a" * 300))
    await back_up(sqlite_store, tmp_path / ("b" * 255))

    assert (tmp_path / "backup.db").read_text() == "mine"


async def test_only_an_empty_database_is_restored_into(
    store: SqlStore, store_url: str, clock: HandClock, tmp_path: Path
) -> None:
    await execution(store)
    await back_up(store, tmp_path / "backup.db")
    before = await everything(store)

    with pytest.raises(TargetInUse, match="is not empty"):
        await restored(LedgerSettings(url=store_url), tmp_path / "backup.db")
    assert await everything(store) == before


async def test_a_database_with_no_events_but_a_lease_is_in_use(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    await execution(sqlite_store)
    await back_up(sqlite_store, tmp_path / "backup.db")
    settings = LedgerSettings(url=f"sqlite:///{tmp_path / 'other.db'}")
    other = await open_store(settings, home=tmp_path, clock=clock)
    await other.leases.acquire("server/host/1", "host:1", 15)
    await other.close()

    with pytest.raises(TargetInUse, match="leases"):
        await restored(settings, tmp_path / "backup.db")


def _damaged(path: Path) -> None:
    data = path.read_bytes()
    assert b'{"n":7}' in data
    path.write_bytes(data.replace(b'{"n":7}', b'{"n":8}'))


def _sql(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.write_text("a letter"), "is no backup"),
        (lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), "is damaged|not as it was"),
        (_damaged, "its payload was changed"),
        (_sql("DELETE FROM events WHERE position = 3"), "the events 3 to 3 of the ledger are missing"),
        (_sql("UPDATE alembic_version SET version_num = '9999'"), "at schema 9999, this program needs"),
        (_sql("DROP TABLE alembic_version"), "is no backup"),
        (lambda path: path.with_name("backup.db-wal").write_text("x"), "not whole by itself"),
    ],
    ids=["letter", "half", "bytes", "row", "schema", "foreign", "wal"],
)
async def test_a_file_that_is_not_as_it_was_made_is_refused(
    sqlite_store: SqlStore, tmp_path: Path, change: Callable[[Path], object], said: str
) -> None:
    await execution(sqlite_store, steps=50)
    path = tmp_path / "backup.db"
    await back_up(sqlite_store, path)
    change(path)

    with pytest.raises(BackupUnfit, match=said):
        await restored(LedgerSettings(url=f"sqlite:///{tmp_path / 'new.db'}"), path)
    assert not (tmp_path / "new.db").exists()


async def test_a_restore_that_fails_leaves_the_database_empty(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await execution(sqlite_store)
    await back_up(sqlite_store, tmp_path / "backup.db")
    settings = LedgerSettings(url=f"sqlite:///{tmp_path / 'new.db'}")
    monkeypatch.setattr(restoring, "copy_tables", _failing(restoring.copy_tables))

    with pytest.raises(RuntimeError, match="the power went"):
        await restored(settings, tmp_path / "backup.db")

    monkeypatch.undo()
    assert (await restored(settings, tmp_path / "backup.db")).position == await sqlite_store.ledger.head()


def _failing(copy: Callable[[Any, Any], int]) -> Callable[[Any, Any], int]:
    def fail(source: Any, target: Any) -> int:
        copy(source, target)
        raise RuntimeError("the power went")

    return fail


async def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotUsable, match="No such file"):
        await restored(LedgerSettings(url=f"sqlite:///{tmp_path / 'new.db'}"), tmp_path / "none.db")


async def test_a_server_that_is_away_is_told(sqlite_store: SqlStore, tmp_path: Path) -> None:
    await execution(sqlite_store)
    await back_up(sqlite_store, tmp_path / "backup.db")

    with pytest.raises(LedgerUnavailable, match="cannot be reached"):
        await restored(LedgerSettings(url="mysql://root@127.0.0.1:1/none"), tmp_path / "backup.db")


@contextmanager
def small_disk(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond `size`, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def left_over(folder: Path) -> list[str]:
    """Return what is there beside the ledger."""
    return [each.name for each in folder.iterdir() if not each.name.startswith("silicon.db")]


async def test_a_full_disk_leaves_no_file_and_nothing_lost(sqlite_store: SqlStore, tmp_path: Path) -> None:
    execution_id = await execution(sqlite_store, result=os.urandom(3_000_000))
    now = HandClock().now()
    with small_disk(500_000):
        with pytest.raises(FileNotUsable, match="make room"):
            await back_up(sqlite_store, tmp_path / "backup.db")
        with pytest.raises(FileNotUsable, match="make room"):
            await export_execution(sqlite_store, execution_id, tmp_path / "one", now)
    assert left_over(tmp_path) == []

    await back_up(sqlite_store, tmp_path / "backup.db")
    new = LedgerSettings(url=f"sqlite:///{tmp_path / 'new' / 'silicon.db'}")
    with small_disk(500_000), pytest.raises(LedgerUnavailable, match="disk"):
        await restored(new, tmp_path / "backup.db")
    assert (await restored(new, tmp_path / "backup.db")).position == await sqlite_store.ledger.head()
