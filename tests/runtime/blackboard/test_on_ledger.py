"""The board of one execution: typed, attributed, compare-and-set."""

from __future__ import annotations

import pytest

from contracts import ExecutionId, Json
from runtime.blackboard import Entry, LedgerBlackboard
from runtime.errors import InvalidArguments, VersionConflict
from runtime.ledger.port import Append
from runtime.ledger.store import SqlStore
from runtime.settings import BlackboardSettings

pytestmark = pytest.mark.anyio


@pytest.fixture
def board(store: SqlStore) -> LedgerBlackboard:
    return board_of(store, ExecutionId.new())


def board_of(store: SqlStore, execution_id: ExecutionId) -> LedgerBlackboard:
    return LedgerBlackboard(store.ledger, execution_id, organisation="acme", settings=BlackboardSettings(value_kib=1))


def written(board: LedgerBlackboard, key: str, value: Json, version: int = 0) -> Append:
    return board.write(key, value, expected_version=version, employee="analyst", step="look")


async def test_a_key_never_written_has_no_value(board: LedgerBlackboard) -> None:
    assert await board.read("cause") is None
    assert await board.entries() == {}


async def test_a_value_is_read_with_who_wrote_it(board: LedgerBlackboard, store: SqlStore) -> None:
    await store.ledger.append(written(board, "cause", {"kind": "weather"}))

    assert await board.read("cause") == Entry("cause", {"kind": "weather"}, 1, "analyst", "look")


async def test_the_second_writer_of_the_same_version_is_refused(board: LedgerBlackboard, store: SqlStore) -> None:
    await store.ledger.append(written(board, "cause", "weather"))
    with pytest.raises(VersionConflict):
        await store.ledger.append(written(board, "cause", "carrier"))
    await store.ledger.append(written(board, "cause", "both", 1))

    assert await board.read("cause") == Entry("cause", "both", 2, "analyst", "look")


async def test_entries_are_those_of_this_execution_alone(store: SqlStore) -> None:
    mine, other = board_of(store, ExecutionId.new()), board_of(store, ExecutionId.new())
    await store.ledger.append(written(mine, "b", 2), written(mine, "a", None), written(other, "c", 3))

    assert {key: entry.value for key, entry in (await mine.entries()).items()} == {"a": None, "b": 2}


async def test_a_value_too_large_is_refused_with_what_to_do(board: LedgerBlackboard) -> None:
    with pytest.raises(InvalidArguments, match="1,026 bytes, and at most 1,024"):
        written(board, "cause", "x" * 1_024)


@pytest.mark.parametrize("key", ["", "1st", "two words", "a/b", "x" * 65, "ключ"])
async def test_what_is_no_name_is_no_key(board: LedgerBlackboard, key: str) -> None:
    with pytest.raises(InvalidArguments, match="is not a key"):
        written(board, key, 1)


async def test_an_erased_value_is_gone_and_its_place_stays(board: LedgerBlackboard, store: SqlStore) -> None:
    (event,) = await store.ledger.append(written(board, "cause", "secret"))
    await store.ledger.erase(event.subject, 1)

    assert await board.read("cause") == Entry("cause", None, 1, "erased", "erased")
