"""How many commits appends take, counted by the database itself where it can, and who waits for whom."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runtime.errors import SchemaMismatch, VersionConflict
from runtime.ledger import committing
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore

pytestmark = pytest.mark.anyio
AT_ONCE, SLOW = 0.000_01, 1.0
"""How long the last commits took, as the writer is made to believe: it commits by itself, or lets its thread."""


def fact(stream: str, version: int = 0) -> Append:
    return Append(stream, [NewEvent("step.finished", {"n": version})], version, "acme", "/organisation/acme")


@pytest.fixture
async def commits(sqlite_store: SqlStore) -> Callable[[], int]:
    """How many commits SQLite was asked for since the ledger was opened and took its first append."""
    await sqlite_store.ledger.append(fact("order/first"))
    seen: list[str] = []
    sqlite_store.writer._committer._connection.driver_connection.set_trace_callback(seen.append)
    return lambda: seen.count("COMMIT")


def believe(store: SqlStore, commit_s: float) -> None:
    store.writer._committer.commit_s = commit_s


@pytest.mark.parametrize("commit_s", [AT_ONCE, SLOW])
async def test_each_of_a_row_of_lone_appends_takes_exactly_one_commit(
    sqlite_store: SqlStore, commits: Callable[[], int], commit_s: float
) -> None:
    for version in range(20):
        believe(sqlite_store, commit_s)
        await sqlite_store.ledger.append(fact("order/a", version))

    assert commits() == 20


@pytest.mark.parametrize("commit_s", [AT_ONCE, SLOW])
async def test_a_thousand_appends_that_are_there_together_take_one_commit(
    sqlite_store: SqlStore, commits: Callable[[], int], commit_s: float
) -> None:
    believe(sqlite_store, commit_s)
    await asyncio.gather(*(sqlite_store.ledger.append(fact(f"order/{number}")) for number in range(1_000)))

    assert commits() == 1
    assert await sqlite_store.ledger.verify() == []


async def test_a_few_thousand_take_a_commit_for_each_thousand(
    sqlite_store: SqlStore, commits: Callable[[], int]
) -> None:
    await asyncio.gather(*(sqlite_store.ledger.append(fact(f"order/{number}")) for number in range(2_500)))

    assert commits() in (2, 3)
    assert await sqlite_store.ledger.verify() == []


async def test_appends_that_are_there_together_are_told_of_together_on_every_store(store: SqlStore) -> None:
    heard: list[int] = []
    store.ledger.on_commit(lambda events: heard.append(len(events)))
    await store.ledger.append(fact("order/first"))

    await asyncio.gather(*(store.ledger.append(fact(f"order/{number}")) for number in range(200)))

    assert heard == [1, 200]
    assert [event.position for event in await store.ledger.read_all()] == list(range(1, 202))
    assert await store.ledger.verify() == []


async def test_what_is_not_remembered_of_many_streams_is_looked_up_together_on_every_store(store: SqlStore) -> None:
    kept, gone, new = ([f"order/{kind}-{number}" for number in range(20)] for kind in ("kept", "gone", "new"))
    await asyncio.gather(*(store.ledger.append(fact(stream)) for stream in (*kept, *gone)))
    await store.ledger.prune(dict.fromkeys(gone, 1), reason="old")
    store.writer._committer._memory.forget()  # as after a start, or when another process wrote

    right = [fact(stream, 1) for stream in (*kept, *gone)] + [fact(stream) for stream in new]
    wrong = [fact(stream) for stream in (*kept, *gone)] + [fact(f"{stream}-too", 1) for stream in new]
    done = await asyncio.gather(*map(store.ledger.append, (*wrong, *right, *wrong)), return_exceptions=True)

    assert [type(one) for one in done] == [VersionConflict] * 60 + [tuple] * 60 + [VersionConflict] * 60
    assert await store.ledger.verify() == []


async def test_a_stream_may_be_begun_and_gone_on_with_in_one_commit_on_every_store(store: SqlStore) -> None:
    other = replace(fact("order/a", 1), events=[NewEvent("order.finished")])
    await asyncio.gather(*map(store.ledger.append, (fact("order/a"), other, fact("order/a", 2), fact("order/b"))))

    assert await store.ledger.streams("order", last_types=["step.finished"]) == ["order/a", "order/b"]
    await asyncio.gather(*map(store.ledger.append, (replace(other, expected_version=3), fact("order/b", 1))))
    assert await store.ledger.streams("order", last_types=["step.finished"]) == ["order/b"]
    assert await store.ledger.verify() == []


async def test_what_comes_during_a_commit_shares_the_next_one(
    sqlite_store: SqlStore, commits: Callable[[], int]
) -> None:
    began, go_on = threading.Event(), threading.Event()

    def wait(_: Any) -> bool:
        began.set()
        return go_on.wait(60)

    slow = asyncio.ensure_future(sqlite_store.writer.do(wait))
    await asyncio.to_thread(began.wait, 10)
    waiting = [asyncio.ensure_future(sqlite_store.ledger.append(fact(f"order/{number}"))) for number in range(50)]
    asyncio.get_running_loop().call_later(0.01, go_on.set)  # once they have all come
    await asyncio.gather(slow, *waiting)

    assert commits() == 2


async def test_while_commits_take_their_time_the_loop_goes_on(sqlite_store: SqlStore) -> None:
    believe(sqlite_store, SLOW)
    go_on = threading.Event()
    asyncio.get_running_loop().call_later(0.01, go_on.set)  # never happens while the loop is blocked

    assert await sqlite_store.writer.do(lambda _: go_on.wait(60), small=True)


async def test_while_another_process_writes_the_loop_goes_on_and_nothing_is_lost(
    sqlite_store: SqlStore, commits: Callable[[], int], tmp_path: Path
) -> None:
    believe(sqlite_store, AT_ONCE)
    with closing(sqlite3.connect(tmp_path / "silicon.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        asyncio.get_running_loop().call_later(0.05, other.execute, "ROLLBACK")
        begun = time.perf_counter()
        async with asyncio.timeout(60):
            await asyncio.gather(*(sqlite_store.ledger.append(fact(f"order/{number}")) for number in range(5)))

    assert time.perf_counter() - begun >= 0.04
    assert commits() == 1
    assert await sqlite_store.ledger.verify() == []


async def test_who_comes_while_another_process_writes_looks_again_soon_and_not_in_sqlites_own_time(
    sqlite_store: SqlStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await sqlite_store.ledger.append(fact("order/before"))
    looks: list[float] = []
    with closing(sqlite3.connect(tmp_path / "silicon.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")

        def sleep(seconds: float) -> None:
            looks.append(seconds)
            if len(looks) == 3:
                other.execute("ROLLBACK")

        monkeypatch.setattr(committing.time, "sleep", sleep)
        await sqlite_store.ledger.append(fact("order/after"))

    assert looks == [committing._LOOK_S] * 3
    assert not sqlite_store.writer._committer._waits, "nothing waited in SQLite"


@pytest.mark.parametrize("commit_s", [AT_ONCE, SLOW])
async def test_a_job_that_breaks_the_transaction_takes_no_other_with_it(
    sqlite_store: SqlStore, commits: Callable[[], int], commit_s: float
) -> None:
    def broken(transaction: Any) -> None:
        transaction.run("INSERT INTO nothing_of_this_name VALUES (1)")

    believe(sqlite_store, commit_s)
    good = [sqlite_store.ledger.append(fact(f"order/{number}")) for number in range(4)]
    *stored, refused = await asyncio.gather(*good, sqlite_store.writer.do(broken, small=True), return_exceptions=True)

    assert [type(one) for one in stored] == [tuple] * 4 and isinstance(refused, SchemaMismatch)
    assert await sqlite_store.ledger.verify() == []


async def test_a_refused_append_leaves_nothing_behind_for_the_next(
    sqlite_store: SqlStore, commits: Callable[[], int]
) -> None:
    believe(sqlite_store, AT_ONCE)
    refused, stored = await asyncio.gather(
        sqlite_store.ledger.append(fact("order/new", 7)),
        sqlite_store.ledger.append(fact("order/new", 0)),
        return_exceptions=True,
    )

    assert isinstance(refused, VersionConflict) and isinstance(stored, tuple)
    assert await sqlite_store.ledger.verify() == []


@pytest.mark.parametrize("commit_s", [AT_ONCE, SLOW])
async def test_the_first_of_some_appends_may_be_cancelled_and_the_others_are_stored(
    sqlite_store: SqlStore, commits: Callable[[], int], commit_s: float
) -> None:
    believe(sqlite_store, commit_s)
    first, *others = [asyncio.ensure_future(sqlite_store.ledger.append(fact(f"order/{n}"))) for n in range(4)]
    await asyncio.sleep(0)  # all of them wait for the commit that the first sees to
    first.cancel()
    async with asyncio.timeout(60):
        stored = await asyncio.gather(*others)

    assert first.cancelled() and commits() == 1
    assert [events[0].subject for events in stored] == ["order/1", "order/2", "order/3"]


class Interrupted(BaseException):
    """What Ctrl-C raises wherever the program stands."""


def interrupted(transaction: Any) -> None:
    transaction.run("UPDATE counter SET position = 99")
    raise Interrupted


async def test_an_interruption_on_the_loop_leaves_nothing_half_written(
    sqlite_store: SqlStore, commits: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    believe(sqlite_store, AT_ONCE)
    writer, came = sqlite_store.writer, []
    commit = writer._commit_what_waits

    def caught() -> None:
        try:
            commit()
        except Interrupted as error:
            came.append(error)

    with monkeypatch.context() as patch:
        patch.setattr(writer, "_commit_what_waits", caught)
        async with asyncio.timeout(60):
            with pytest.raises(asyncio.CancelledError):
                await asyncio.ensure_future(writer.do(interrupted, small=True))

    assert len(came) == 1
    await sqlite_store.ledger.append(fact("order/a"))
    assert await sqlite_store.ledger.verify() == []


async def test_whatever_ends_a_commit_in_the_thread_the_next_one_comes(sqlite_store: SqlStore) -> None:
    async with asyncio.timeout(60):
        with pytest.raises(Interrupted):
            await sqlite_store.writer.do(interrupted)
        await sqlite_store.ledger.append(fact("order/a"))

    assert await sqlite_store.ledger.verify() == []
