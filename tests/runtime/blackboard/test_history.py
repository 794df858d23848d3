"""What a read or a write asks of the ledger is the same however often the key was written."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

import pytest

from contracts import Event, ExecutionId, Json, OrderId
from runtime.blackboard import Entry, KeyRule, LedgerBlackboard
from runtime.blackboard.merged import KEPT_EVERY
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import BlackboardSettings

pytestmark = pytest.mark.anyio
RULES = {"total": KeyRule("old + new"), "best": KeyRule("max"), "found": KeyRule("union")}
KEYS = ["cause", *RULES]


class Counting:
    """A ledger that counts the rows that are read from it."""

    def __init__(self, store: SqlStore) -> None:
        self._ledger = store.ledger
        self.rows = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ledger, name)
        return self._counting(found) if name.startswith("read") or name == "snapshots" else found

    async def rows_of(self, doing: Awaitable[Any]) -> int:
        self.rows = 0
        await doing
        return self.rows

    def _counting(self, ask: Any) -> Any:
        async def counted(*arguments: Any, **more: Any) -> Sequence[Any]:
            rows: Sequence[Any] = await ask(*arguments, **more)
            self.rows += len(rows)
            return rows

        return counted


@pytest.fixture
def execution_id() -> ExecutionId:
    return ExecutionId.new()


def board_of(ledger: Any, execution_id: ExecutionId) -> LedgerBlackboard:
    settings = BlackboardSettings(value_kib=1)
    return LedgerBlackboard(ledger, execution_id, organisation="acme", settings=settings, rules=RULES)


async def written(store: SqlStore, board: LedgerBlackboard, key: str, value: Json) -> Event:
    """Write on top of whatever stands there, as each step of its own order does."""
    entry = await board.read(key)
    version = entry.version if entry else 0
    append = board.write(
        key, value, expected_version=version, employee="clerk", step="tell", order=OrderId.new(), unseen=True
    )
    (event,) = await store.ledger.append(append)
    return event


async def up_to(store: SqlStore, board: LedgerBlackboard, key: str, version: int) -> None:
    entry = await board.read(key)
    for number in range(entry.version if entry else 0, version):
        await written(store, board, key, number % 7)


@pytest.mark.parametrize("key", KEYS)
async def test_the_ledger_gives_as_many_rows_at_version_510_as_at_version_110(
    sqlite_store: SqlStore, execution_id: ExecutionId, key: str
) -> None:
    ledger = Counting(sqlite_store)
    board, warm, cold, entries = board_of(ledger, execution_id), [], [], []
    for version in (110, 510):
        await up_to(sqlite_store, board, key, version - 1)
        warm.append(await ledger.rows_of(written(sqlite_store, board, key, 1)))
        known = await board.read(key)
        cold.append(await ledger.rows_of(tells(board_of(ledger, execution_id).read(key), known)))
        entries.append(await ledger.rows_of(tells(board_of(ledger, execution_id).entries(), {key: known})))

    assert warm == [1, 1]
    assert cold[0] == cold[1] < KEPT_EVERY / 2
    assert entries == cold


async def tells(reading: Awaitable[Any], expected: Any) -> None:
    assert await reading == expected


@pytest.mark.parametrize("key", KEYS)
async def test_what_is_told_without_the_history_is_what_the_history_tells(
    sqlite_store: SqlStore, execution_id: ExecutionId, key: str
) -> None:
    board = board_of(sqlite_store.ledger, execution_id)
    await up_to(sqlite_store, board, key, 2 * KEPT_EVERY + 3)

    entry = await board_of(sqlite_store.ledger, execution_id).read(key)
    assert entry == await board.read(key) == await folded(sqlite_store, board, key)
    assert entry is not None and len(entry.conflicts) == (20 if key == "cause" else 0)
    assert [each.version for each in entry.conflicts] == list(range(183, 203) if key == "cause" else ())


async def folded(store: SqlStore, board: LedgerBlackboard, key: str) -> Entry | None:
    """Read the key as those did who kept no snapshots and told no conflicts."""
    other, events = ExecutionId.new(), []
    for version in await board.versions(key):
        data = {"key": key, "value": version.value, "employee": version.employee, "step": version.step}
        data |= {"order": version.order, "rule": version.rule, "unseen": version.unseen}
        events.append(NewEvent("entry.written", data))
    await store.ledger.append(Append(f"blackboard/{other.ulid}/{key}", events, 0, "acme", "/test", other))
    old = await board_of(store.ledger, other).read(key)
    new = await board.read(key)
    assert old is not None and new is not None
    assert [each.value for each in old.conflicts] == [each.value for each in new.conflicts]
    return Entry(key, old.value, old.version, old.employee, old.step, new.conflicts)


async def test_what_was_erased_is_in_no_snapshot_and_in_nothing_remembered(
    store: SqlStore, execution_id: ExecutionId
) -> None:
    board = board_of(store.ledger, execution_id)
    event = await written(store, board, "found", "secret")
    await up_to(store, board, "found", KEPT_EVERY + 2)
    stale = board_of(store.ledger, execution_id)
    assert "secret" in str(await stale.read("found")) and await store.ledger.snapshots(event.subject)

    await store.ledger.erase(event.subject, 1)
    assert await store.ledger.snapshots(event.subject) == []
    for reader in (board, stale, board_of(store.ledger, execution_id)):
        assert "secret" not in str(await reader.read("found"))
    await up_to(store, board, "found", 2 * KEPT_EVERY + 2)
    (snapshot,) = await store.ledger.snapshots(event.subject)
    assert b"secret" not in snapshot.data


async def test_a_snapshot_made_before_an_erasure_comes_too_late(
    sqlite_store: SqlStore, execution_id: ExecutionId, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = board_of(sqlite_store.ledger, execution_id)
    event = await written(sqlite_store, board, "found", "secret")
    await up_to(sqlite_store, board_of(sqlite_store.ledger, execution_id), "found", KEPT_EVERY - 1)
    await written(sqlite_store, board, "found", 1)
    append = sqlite_store.ledger.append

    async def erased_first(*appends: Append, **more: Any) -> Sequence[Event]:
        if more.get("snapshots"):
            await sqlite_store.ledger.erase(event.subject, 1)
        return await append(*appends, **more)

    monkeypatch.setattr(sqlite_store.ledger, "append", erased_first)
    assert "secret" in str(await board.read("found"))  # it was there when it was read
    assert await sqlite_store.ledger.snapshots(event.subject) == []
    assert "secret" not in str(await board.read("found"))
