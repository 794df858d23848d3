"""Export and import: one execution as one file, checked by its own chains, taken in whole or not at all."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts import ExecutionId
from runtime.canonical import sha256
from runtime.errors import NotFound
from runtime.keeping import Exported, Imported, export_execution, prune, read_content, take_in
from runtime.keeping.content import Content
from runtime.keeping.errors import AlreadyHere, ArchiveRefused, ExportUnfit, FileInUse, FileNotUsable
from runtime.ledger import open_store
from runtime.ledger.port import NewEvent
from runtime.ledger.rows import EventRow, link
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.runtime.keeping.history import EVENTS, add, execution, fact

pytestmark = pytest.mark.anyio
Lines = list[dict[str, Any]]
BIG = bytes(range(256)) * 70_000
"""Larger than one part of a blob, and hard to compress."""


@pytest.fixture
async def elsewhere(tmp_path: Path, clock: HandClock) -> SqlStore:
    """A ledger in another home, with a history of its own."""
    store = await open_store(LedgerSettings(synchronous="NORMAL"), home=tmp_path / "elsewhere", clock=clock)
    await execution(store)
    return store


async def exported(store: SqlStore, path: Path, clock: HandClock, **rest: Any) -> tuple[ExecutionId, Exported]:
    execution_id = await execution(store, **rest)
    return execution_id, await export_execution(store, execution_id, path, clock.now())


async def imported(store: SqlStore, path: Path, clock: HandClock, *closing: Any) -> Imported:
    content = await asyncio.to_thread(read_content, path)
    return await take_in(store, content, closing, by="ana", now=clock.now())


def facts(row: Any) -> tuple[object, ...]:
    """Return what an event says, wherever it stands."""
    return (row.id, row.subject, row.stream_version, row.type, row.time, row.source, row.organisation,
            row.execution_id, row.trace_id, row.data, row.payload_sha256)  # fmt: skip


async def test_an_execution_goes_from_any_database_into_another(
    store: SqlStore, elsewhere: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    path = tmp_path / "one.jsonl.gz"
    await execution(store)
    execution_id, written = await exported(store, path, clock, result=BIG)
    clock.advance(60)

    taken = await imported(elsewhere, path, clock)

    before = [event for event in await store.ledger.read_execution(execution_id) if event.type != "request.claimed"]
    *after, record = await elsewhere.ledger.read_execution(execution_id)
    assert list(map(facts, after)) == list(map(facts, before)) and len(after) == EVENTS
    assert await elsewhere.blobs.get(sha256(BIG)) == BIG
    assert (record.type, record.subject, record.position) == ("execution.imported", execution_id, taken.position)
    assert record.data is not None and record.data["file_sha256"] == written.sha256 == taken.sha256
    assert (record.data["by"], record.data["events"]) == ("ana", EVENTS)
    assert (taken.events, taken.blobs, written.events, written.blobs) == (EVENTS, 2, EVENTS, 2)
    assert await elsewhere.ledger.verify() == []
    assert await store.ledger.verify() == []
    await elsewhere.close()


async def test_it_goes_into_any_database(
    store: SqlStore, elsewhere: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    execution_id, _ = await exported(elsewhere, tmp_path / "one", clock, result=BIG)
    seen: list[str] = []
    store.ledger.on_commit(lambda events: seen.extend(event.type for event in events))

    await imported(store, tmp_path / "one", clock)

    assert seen[-1] == "execution.imported" and len(seen) == EVENTS + 1
    assert len(await store.ledger.read_execution(execution_id)) == EVENTS + 1
    assert await store.ledger.streams("request") == []  # nobody here used the key
    assert await store.ledger.verify() == []
    await elsewhere.close()


async def test_a_running_execution_is_exported_as_it_stands(
    sqlite_store: SqlStore, elsewhere: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    execution_id, _ = await exported(sqlite_store, tmp_path / "one", clock, ended=False)
    await add(sqlite_store, f"order/{execution_id.ulid}", "step.finished", execution_id)

    await imported(elsewhere, tmp_path / "one", clock)

    assert (await elsewhere.ledger.read(execution_id))[-1].type == "execution.imported"
    assert len(await elsewhere.ledger.read(f"order/{execution_id.ulid}")) == 4
    await elsewhere.close()


async def test_what_was_erased_stays_erased(
    sqlite_store: SqlStore, elsewhere: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    execution_id = await execution(sqlite_store)
    order = f"order/{execution_id.ulid}"
    await sqlite_store.ledger.erase(order, 2)
    await sqlite_store.ledger.erase(order, 3)
    await export_execution(sqlite_store, execution_id, tmp_path / "one", clock.now())

    await imported(elsewhere, tmp_path / "one", clock)

    assert [event.data is None for event in await elsewhere.ledger.read(order)] == [False, True, True, False]
    assert await elsewhere.ledger.verify() == []
    await elsewhere.close()


async def test_what_happens_with_the_import_is_appended_before_its_end(
    sqlite_store: SqlStore, elsewhere: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    execution_id, _ = await exported(sqlite_store, tmp_path / "one", clock)
    card = f"card/{execution_id.ulid}"

    await imported(elsewhere, tmp_path / "one", clock, (card, NewEvent("card.withdrawn", {"reason": "imported"})))

    assert [event.type for event in (await elsewhere.ledger.read_execution(execution_id))[-2:]] == [
        "card.withdrawn",
        "execution.imported",
    ]
    await elsewhere.close()


async def test_an_import_is_exported_and_imported_again(
    sqlite_store: SqlStore, elsewhere: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    execution_id, _ = await exported(sqlite_store, tmp_path / "one", clock)
    await imported(elsewhere, tmp_path / "one", clock)
    await export_execution(elsewhere, execution_id, tmp_path / "two", clock.now())
    third = await open_store(LedgerSettings(), home=tmp_path / "third", clock=clock)

    await imported(third, tmp_path / "two", clock)

    assert [event.type for event in (await third.ledger.read(execution_id))[-2:]] == ["execution.imported"] * 2
    assert await third.ledger.verify() == []
    await third.close()
    await elsewhere.close()


async def test_nothing_is_imported_twice(sqlite_store: SqlStore, clock: HandClock, tmp_path: Path) -> None:
    _, _ = await exported(sqlite_store, tmp_path / "one", clock)
    head = await sqlite_store.ledger.head()

    with pytest.raises(AlreadyHere, match="is in this ledger already"):
        await imported(sqlite_store, tmp_path / "one", clock)

    clock.advance(31 * 86_400)
    await prune(sqlite_store, clock, days=30, stream_only_days=7, still_asks=lambda events: False)
    with pytest.raises(AlreadyHere, match="or was pruned from it"):
        await imported(sqlite_store, tmp_path / "one", clock)
    assert await sqlite_store.ledger.verify() == []
    assert head > 0


async def test_of_two_imports_at_once_one_is_refused(
    elsewhere: SqlStore, store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    await exported(elsewhere, tmp_path / "one", clock)

    outcomes = await asyncio.gather(
        *(imported(store, tmp_path / "one", clock) for _ in range(3)), return_exceptions=True
    )

    assert sorted(type(each).__name__ for each in outcomes) == ["AlreadyHere", "AlreadyHere", "Imported"]
    assert await store.ledger.verify() == []
    await elsewhere.close()


async def test_what_is_not_there_or_not_whole_is_not_exported(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    with pytest.raises(NotFound):
        await export_execution(sqlite_store, ExecutionId.new(), tmp_path / "one", clock.now())
    execution_id, _ = await exported(sqlite_store, tmp_path / "two", clock)
    with pytest.raises(FileInUse):
        await export_execution(sqlite_store, execution_id, tmp_path / "two", clock.now())
    await sqlite_store.writer.do(lambda transaction: transaction.run("DELETE FROM blob_parts"))
    with pytest.raises(ExportUnfit, match=r"lacks the blob .* audit verify"):
        await export_execution(sqlite_store, execution_id, tmp_path / "three", clock.now())
    await sqlite_store.writer.do(lambda transaction: transaction.run("UPDATE events SET data = x'7b7d'"))
    with pytest.raises(ExportUnfit, match="does not match its hash"):
        await export_execution(sqlite_store, execution_id, tmp_path / "three", clock.now())

    assert sorted(each.name for each in tmp_path.glob("*t*") if each.is_file()) == ["two"]  # noqa: ASYNC240


async def test_the_file_can_be_read_without_the_program(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    execution_id, written = await exported(sqlite_store, tmp_path / "one", clock)

    data = gzip.decompress((tmp_path / "one").read_bytes())
    *lines, end = data.splitlines(keepends=True)

    assert json.loads(lines[0])["execution_id"] == execution_id
    assert json.loads(end)["sha256"] == written.sha256 == hashlib.sha256(b"".join(lines)).hexdigest()
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o600


# What comes from elsewhere


def forge(path: Path, change: Callable[[Lines], object], *, chained: bool = True) -> None:
    """Change the lines of a file and make its hashes fit again, as somebody would who means harm."""
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    change(lines)
    if chained:
        _chain(lines)
    *body, end = lines
    data = b"".join(json.dumps(line).encode() + b"\n" for line in body)
    counts = {kind: sum(line["line"] == kind for line in body) for kind in ("event", "blob")}
    blobs = sum(line["line"] == "blob" and line["part"] == 0 for line in body)
    end = {**end, "events": counts["event"], "blobs": blobs, "sha256": hashlib.sha256(data).hexdigest()}
    path.write_bytes(gzip.compress(data + json.dumps(end).encode() + b"\n"))


def _chain(lines: Lines) -> None:
    marks: dict[str, dict[str, Any]] = {}
    for line in lines:
        if line.get("line") != "event":
            continue
        if line["payload"] is not None:
            line["payload_sha256"] = hashlib.sha256(line["payload"].encode()).hexdigest()
        before = marks.get(line["stream"], {}).get("chain_sha256", "")
        line["chain_sha256"] = link(before, tuple(line[name] for name in EventRow._fields[:-1]))
        marks[line["stream"]] = {"version": line["version"], "chain_sha256": line["chain_sha256"]}
    lines[0]["streams"] = marks


def event(number: int, **columns: object) -> Callable[[Lines], object]:
    return lambda lines: lines[number].update(columns)


def stream(name: str) -> Callable[[Lines], object]:
    return lambda lines: [line.update(stream=name) for line in lines if str(line.get("stream")).startswith("card/")]


HARMFUL: dict[str, tuple[Callable[[Lines], object], str]] = {
    "another execution": (event(3, execution_id=str(ExecutionId.new())), "holds what does not belong to"),
    "another organisation": (event(3, organisation="other"), "holds what does not belong to"),
    "a token": (stream("token/01J9"), "holds a stream that is no execution's own"),
    "a hold": (stream("hold/01J9"), "holds a stream that is no execution's own"),
    "another board": (stream("blackboard/01J9/key"), "holds a stream that is no execution's own"),
    "two executions": (stream(str(ExecutionId.new())), "holds a stream that is no execution's own"),
    "no payload": (event(3, payload="[1]"), "its payload is no object"),
    "not JSON": (event(3, payload="{"), "holds what cannot be stored"),
    "NaN": (event(3, payload='{"a": NaN}'), "holds what cannot be stored"),
    "a surrogate": (event(3, payload='{"a": "\\ud800"}'), "holds what cannot be stored"),
    "NUL": (event(3, payload='{"a": "\\u0000"}'), "holds what cannot be stored"),
    "deep": (event(3, payload='{"a":' * 200 + "1" + "}" * 200), "holds what cannot be stored"),
    "no type": (event(3, type="Step Finished"), "holds what cannot be stored"),
    "no moment": (event(3, time="2013-13-08T22:00:00.000000Z"), "holds what cannot be stored"),
    "a time that is no text": (event(3, time=5), "line 4: event.time|line 4"),
    "half erased": (event(3, payload=None), "is half erased"),
    "a version left out": (event(3, version=7), "out of order"),
    "a position twice": (event(4, position=1), "out of order"),
    "2^63": (event(3, position=2**63), "line 4"),
    "more than an event": (event(3, more=1), "line 4"),
    "a blob too few": (lambda lines: lines.pop(-2), "lacks the blob"),
    "another blob": (
        lambda lines: lines[-2].update(data=base64.b64encode(b"x").decode(), codec="raw", size=1),
        "does not match its address",
    ),
    "a bomb": (lambda lines: lines[-2].update(size=2**40), r"line \d+"),
    "a wrong size": (lambda lines: lines[-2].update(size=1), "does not match its address"),
    "half a blob": (lambda lines: lines[-2].update(parts=2), "only some parts"),
    "events after blobs": (lambda lines: lines.insert(-1, lines.pop(-4)), "stands where no event belongs"),
    "two headers": (lambda lines: lines.insert(1, lines[0]), "stands where no header belongs"),
}


@pytest.mark.parametrize("kind", HARMFUL)
async def test_a_file_made_to_do_harm_is_refused(
    sqlite_store: SqlStore, elsewhere: SqlStore, clock: HandClock, tmp_path: Path, kind: str
) -> None:
    change, said = HARMFUL[kind]
    await exported(sqlite_store, tmp_path / "one", clock)
    forge(tmp_path / "one", lambda lines: None)
    assert isinstance(read_content(tmp_path / "one"), Content)
    forge(tmp_path / "one", change)

    with pytest.raises(ArchiveRefused, match=said):
        await imported(elsewhere, tmp_path / "one", clock)
    assert len(await elsewhere.ledger.streams("execution")) == 1
    await elsewhere.close()


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda path: (path.write_bytes(change(path.read_bytes())), None)[1]


def _raw(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return _bytes(lambda data: gzip.compress(change(gzip.decompress(data))))


def _version(lines: Lines) -> None:
    lines[0]["version"] = 2


DAMAGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a letter": (lambda path: (path.write_text("Dear Ana"), None)[1], "is no export"),
    "nothing": (_bytes(lambda data: b""), "ends too early"),
    "another JSON": (_bytes(lambda data: gzip.compress(b'{"a": 1}\n')), "is no export of an execution"),
    "cut": (_bytes(lambda data: data[:-40]), "ends too early|is damaged"),
    "a line lost": (_raw(lambda data: b"".join(data.splitlines(keepends=True)[:-1])), "its last line is missing"),
    "a byte changed": (_raw(lambda data: data.replace(b'{\\"n\\":1}', b'{\\"n\\":2}', 1)), "does not match its hash"),
    "a newer form": (lambda path: forge(path, _version), "knows 1"),
    "more at the end": (_raw(lambda data: data + b"{}\n"), "goes on after its end"),
    "more files": (_bytes(lambda data: data + gzip.compress(b"{}\n")), "goes on after its end"),
    "a chain that does not fit": (
        lambda path: forge(path, event(3, type="step.failed"), chained=False),
        "does not fit its chain",
    ),
}


@pytest.mark.parametrize("kind", DAMAGED)
async def test_a_damaged_file_is_refused_and_says_why(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path, kind: str
) -> None:
    change, said = DAMAGED[kind]
    await exported(sqlite_store, tmp_path / "one", clock)
    change(tmp_path / "one")

    with pytest.raises(ArchiveRefused, match=said):
        read_content(tmp_path / "one")


async def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotUsable, match="No such file"):
        read_content(tmp_path / "none")
    with pytest.raises(FileNotUsable, match="directory"):
        read_content(tmp_path)


async def test_a_file_that_is_replaced_while_it_is_read_is_refused(
    sqlite_store: SqlStore, elsewhere: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    await exported(sqlite_store, tmp_path / "one", clock)
    content = read_content(tmp_path / "one")
    await exported(sqlite_store, tmp_path / "two", clock)
    (tmp_path / "two").replace(tmp_path / "one")

    with pytest.raises(ArchiveRefused, match="was changed while it was read"):
        await take_in(elsewhere, content, [], by="ana", now=clock.now())
    assert len(await elsewhere.ledger.streams("execution")) == 1
    await elsewhere.close()


async def test_what_only_shares_the_execution_is_not_exported(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path
) -> None:
    execution_id = await execution(sqlite_store)
    await sqlite_store.ledger.append(fact("sensor/acme/delays", 0, NewEvent("signal.raised"), execution_id))

    await export_execution(sqlite_store, execution_id, tmp_path / "one", clock.now())

    assert {name.partition("/")[0] for name in read_content(tmp_path / "one").header.streams} == {
        "execution", "order", "card", "blackboard",
    }  # fmt: skip
