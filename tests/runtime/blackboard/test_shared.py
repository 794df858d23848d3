"""Several writers on one board: nothing is lost, what conflicts is kept, and everybody hears of it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from contracts import Event, ExecutionId, Json, OrderId, ValueType
from runtime.blackboard import KeyRule, LedgerBlackboard, Version
from runtime.bus import InProcessBus
from runtime.errors import InvalidArguments, VersionConflict
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import BlackboardSettings, LedgerSettings
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
INCREMENTER = Path(__file__).with_name("incrementer.py")
ROOT = Path(__file__).parents[3]
RULES = {
    "best": KeyRule("max", ValueType.NUMBER),
    "notes": KeyRule("append"),
    "found": KeyRule("union"),
    "total": KeyRule("old + new"),
}


@pytest.fixture
def execution_id() -> ExecutionId:
    return ExecutionId.new()


@pytest.fixture
def board(store: SqlStore, execution_id: ExecutionId) -> LedgerBlackboard:
    return board_of(store, execution_id)


@pytest.fixture
async def elsewhere(sqlite_store: SqlStore, tmp_path: Path, clock: HandClock) -> AsyncIterator[SqlStore]:
    """The same ledger as another process has it."""
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=tmp_path, clock=clock)
    yield store
    await store.close()


def board_of(store: SqlStore, execution_id: ExecutionId) -> LedgerBlackboard:
    settings = BlackboardSettings(value_kib=1)
    return LedgerBlackboard(store.ledger, execution_id, organisation="acme", settings=settings, rules=RULES)


async def write(store: SqlStore, board: LedgerBlackboard, key: str, value: Json, *, by: str = "analyst") -> Event:
    """Write on top of whatever stands there, as a step does that names no version."""
    order = OrderId.new()
    while True:
        entry = await board.read(key)
        try:
            (event,) = await store.ledger.append(
                board.write(
                    key, value, expected_version=entry.version if entry else 0, employee=by, step="tell",
                    order=order, unseen=True,
                )
            )  # fmt: skip
        except VersionConflict:
            continue
        return event


def decided(board: LedgerBlackboard, key: str, value: Json, version: int) -> Append:
    return board.write(key, value, expected_version=version, employee="chief", step="decide")


@pytest.mark.parametrize(
    ("key", "value"),
    [("best", 9), ("notes", list(range(10))), ("found", list(range(10))), ("total", 45)],
)
async def test_ten_writers_of_one_key_lose_nothing_where_a_rule_merges(
    store: SqlStore, execution_id: ExecutionId, key: str, value: Json
) -> None:
    boards = [board_of(store, execution_id) for _ in range(10)]
    await asyncio.gather(*(write(store, board, key, number) for number, board in enumerate(boards)))

    entry = await board_of(store, execution_id).read(key)
    assert entry is not None and entry.version == 10 and entry.conflicts == ()
    assert (sorted(entry.value) if isinstance(entry.value, list) else entry.value) == value


async def test_ten_writers_and_a_slow_one_where_each_replaces(
    store: SqlStore, board: LedgerBlackboard, execution_id: ExecutionId
) -> None:
    """The ten name no version: each goes on top, and all are shown. The slow one decided on nothing, and is refused."""
    slow = board_of(store, execution_id)
    assert await slow.read("cause") is None
    for number in range(10):
        await write(store, board, "cause", number, by=f"worker{number}")
    with pytest.raises(VersionConflict):
        await store.ledger.append(decided(slow, "cause", "mine", 0))

    entry = await board.read("cause")
    assert entry is not None and (entry.value, entry.employee) == (9, "worker9")
    assert [(each.value, each.employee) for each in entry.conflicts] == [(n, f"worker{n}") for n in range(9)]
    assert [version.value for version in await board.versions("cause")] == list(range(10))

    await store.ledger.append(decided(board, "cause", "both", 10))
    settled = await board_of(store, execution_id).read("cause")
    assert settled is not None and (settled.value, settled.conflicts) == ("both", ())
    assert len(await board.versions("cause")) == 11


async def test_who_writes_again_is_in_conflict_with_nobody(store: SqlStore, board: LedgerBlackboard) -> None:
    order = OrderId.new()
    for version in range(2):
        await store.ledger.append(
            board.write(
                "cause", version, expected_version=version, employee="analyst", step="do", order=order, unseen=True
            )
        )
        await board.read("cause")

    entry = await board.read("cause")
    assert entry is not None and entry.conflicts == ()


async def test_each_version_says_who_wrote_it(store: SqlStore, board: LedgerBlackboard, clock: HandClock) -> None:
    event = await write(store, board, "best", 4)

    assert await board.versions("best") == [
        Version(
            "best", 1, 4, "analyst", "tell", str((event.data or {})["order"]), clock.now(), 1, rule="max", unseen=False
        )
    ]


async def test_a_value_that_does_not_fit_what_stands_there_is_refused(store: SqlStore, board: LedgerBlackboard) -> None:
    with pytest.raises(InvalidArguments, match="takes values of the type number"):
        await write(store, board, "best", "high")
    await write(store, board, "total", 1)
    with pytest.raises(InvalidArguments, match="cannot be merged into `total`"):
        await write(store, board, "total", "one")


async def test_what_is_merged_has_the_size_of_one_value_at_most(store: SqlStore, board: LedgerBlackboard) -> None:
    for _ in range(3):
        await write(store, board, "notes", "x" * 300)
    with pytest.raises(InvalidArguments, match="at most 1,024"):
        await write(store, board, "notes", "x" * 300)


async def test_an_erased_part_of_a_merged_value_is_gone_and_the_rest_stays(
    store: SqlStore, board: LedgerBlackboard, execution_id: ExecutionId
) -> None:
    for note in ("a", "secret", "c"):
        event = await write(store, board, "notes", note)
        if note == "secret":
            await store.ledger.erase(event.subject, event.stream_version)

    entry = await board_of(store, execution_id).read("notes")
    assert entry is not None and (entry.value, entry.version) == (["a", "c"], 3)


async def test_all_values_take_one_query_and_news_one_more(
    store: SqlStore, board: LedgerBlackboard, execution_id: ExecutionId, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, asked = board_of(store, execution_id), []
    queries = store.ledger._reader
    thread = queries.in_thread

    async def counted(work: Any) -> Any:
        asked.append(work)
        return await thread(work)

    monkeypatch.setattr(queries, "in_thread", counted)
    for number in range(30):
        await write(store, board, f"key{number}", number)
    await write(store, board, "notes", "first")
    asked.clear()
    assert len(await reader.entries()) == 31
    await store.ledger.append(decided(reader, "key3", "new", 1))
    found = await reader.entries()

    assert len(asked) == 2
    assert (found["key3"].value, found["notes"].value, len(found)) == ("new", ["first"], 31)


async def test_writes_of_other_processes_arrive(
    sqlite_store: SqlStore, elsewhere: SqlStore, execution_id: ExecutionId
) -> None:
    bus = InProcessBus(elsewhere, poll_s=0.01)
    here, there = board_of(sqlite_store, execution_id), board_of(elsewhere, execution_id)
    other = board_of(sqlite_store, ExecutionId.new())
    seen: list[Version] = []
    async with asyncio.timeout(20), aclosing(there.subscribe("draft.*", bus=bus, after=0)) as writes:
        await write(sqlite_store, other, "draft.x", "another execution's")
        for key in ("draft.a", "best", "draft.b"):
            await write(sqlite_store, here, key, 1)
        async for version in writes:
            seen.append(version)
            if len(seen) == 2:
                break

    assert [(version.key, version.value, version.employee) for version in seen] == [
        ("draft.a", 1, "analyst"),
        ("draft.b", 1, "analyst"),
    ]


async def test_who_follows_reads_without_a_query_and_hears_of_what_others_write(
    sqlite_store: SqlStore, elsewhere: SqlStore, execution_id: ExecutionId, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = board_of(sqlite_store, execution_id), board_of(elsewhere, execution_id)
    bus = InProcessBus(elsewhere, poll_s=0.01)
    await write(sqlite_store, here, "best", 1)
    async with there.following(bus):
        await write(elsewhere, there, "best", 2)
        monkeypatch.setattr(elsewhere.ledger, "read", None)  # whoever asked the ledger would fail
        own = await there.read("best", cached=True)
        await write(sqlite_store, here, "best", 3)
        async with asyncio.timeout(20), aclosing(bus.subscribe("entry.written", after=2)) as news:
            await anext(news)
            while (entry := await there.read("best", cached=True)) is None or entry.value != 3:  # noqa: ASYNC110
                await asyncio.sleep(0)

    assert own is not None and own.value == 2


async def test_who_follows_forgets_what_was_erased(
    sqlite_store: SqlStore, elsewhere: SqlStore, execution_id: ExecutionId
) -> None:
    here, there = board_of(sqlite_store, execution_id), board_of(elsewhere, execution_id)
    event = await write(sqlite_store, here, "cause", "secret")
    async with there.following(InProcessBus(elsewhere, poll_s=0.01)):
        await sqlite_store.ledger.erase(event.subject, 1)
        async with asyncio.timeout(20):
            while (entry := await there.read("cause", cached=True)) is None or entry.value is not None:  # noqa: ASYNC110
                await asyncio.sleep(0)


@pytest.mark.parametrize("pattern", ["", "a b", "a/b"])
async def test_a_pattern_that_fits_no_key_is_refused(
    sqlite_store: SqlStore, execution_id: ExecutionId, pattern: str
) -> None:
    with pytest.raises(ValueError, match="fits no key"):
        board_of(sqlite_store, execution_id).subscribe(pattern, bus=InProcessBus(sqlite_store), after=0)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("store_url", "times", "alone"), [("sqlite", 1_000, 300), ("mysql", 120, 20)], indirect=["store_url"]
)
async def test_ten_processes_that_increment_a_thousand_times_lose_none(
    store: SqlStore, store_url: str, times: int, alone: int, board: LedgerBlackboard, execution_id: ExecutionId
) -> None:
    """So many alone, the others fifty to a commit."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(INCREMENTER), store_url, execution_id, "10", str(times), str(alone), env=environment
    )
    assert await process.wait() == 0

    entry = await board.read("count")
    assert entry is not None and (entry.value, entry.version, entry.conflicts) == (10 * times, 10 * times, ())


async def test_a_board_that_hears_what_no_rule_here_takes_goes_on_and_tells_whoever_reads_it(
    sqlite_store: SqlStore, elsewhere: SqlStore, execution_id: ExecutionId
) -> None:
    """Another process knows a rule that this one does not."""
    board, bus = board_of(sqlite_store, execution_id), InProcessBus(sqlite_store, poll_s=0.01)
    stream = f"blackboard/{execution_id.ulid}/odd"
    data = {"key": "odd", "value": 1, "employee": "analyst", "step": "tell", "rule": "unheard-of"}
    await write(sqlite_store, board, "cause", "sun")
    async with board.following(bus), asyncio.timeout(20):
        await elsewhere.ledger.append(Append(stream, [NewEvent("entry.written", data)], 0, "acme", "/test"))
        await write(elsewhere, board_of(elsewhere, execution_id), "cause", "fog")

        while (entry := await board.read("cause", cached=True)) is None or entry.value != "fog":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        with pytest.raises(InvalidArguments, match="cannot be read here"):
            await board.read("odd", cached=True)
