"""Whole streams taken away behind a tombstone, and the event that accounts for each."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from runtime.errors import LedgerError, VersionConflict
from runtime.ledger import ranges
from runtime.ledger.facts import prepare
from runtime.ledger.port import Append, NewEvent, Stream
from runtime.ledger.ranges import Run
from runtime.ledger.rows import kind_of, time_to_number, time_to_text
from runtime.ledger.storing import Storing, store
from runtime.ledger.transaction import Transaction
from runtime.ledger.verify_tombstones import PRUNED, positions_sha256

KEPT = ("erasure", "pruning")
"""Kinds of streams that account for what is gone: they stay."""


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is to be taken away, and what it depends on."""

    moment: datetime
    streams: Mapping[Stream, int]
    unchanged: Mapping[Stream, int]
    reason: str


@dataclass(frozen=True, slots=True)
class _Doomed:
    """A stream as it stands before it goes."""

    stream: Stream
    number: int
    organisation: str
    version: int
    chain: bytes
    runs: list[Run]
    """Where its events stand, with those that were pruned before."""
    events: int
    """How many are taken away now."""
    buried: bool
    """Whether it has a tombstone already."""


def prune(transaction: Transaction, pruning: Pruning) -> int:
    """Take the streams away and return how many events went; raise before anything was written."""
    transaction.send()
    _check_versions(transaction, {**pruning.unchanged, **pruning.streams})
    doomed = [_look_up(transaction, stream) for stream in pruning.streams]
    for one in doomed:
        if one is not None:
            _take_away(transaction, one, pruning)
    _record(transaction, [one for one in doomed if one is not None], pruning)
    return sum(one.events for one in doomed if one is not None)


def _check_versions(transaction: Transaction, expected: Mapping[Stream, int]) -> None:
    for stream, version in expected.items():
        actual = transaction.head(stream).version
        if actual != version:
            raise VersionConflict(
                f"The stream {stream} is at version {actual}, not {version}: somebody wrote to it meanwhile. "
                "Nothing was pruned.",
                stream=stream,
                expected=version,
                actual=actual,
            )


def _look_up(transaction: Transaction, stream: Stream) -> _Doomed | None:
    """Return the stream as it stands; None for one of which nothing is there."""
    statements, head = transaction.statements, transaction.head(stream)
    if not head.stored:
        return None
    number = transaction.number_of(stream)
    organisation = transaction.one(statements.organisation_of, number)
    positions = [row[0] for row in transaction.all(statements.positions, number)]
    tombstone = transaction.one(statements.tombstone, number)
    runs = [] if tombstone is None else _unpack(stream, tombstone[2])
    before = 0 if tombstone is None else tombstone[0]
    if organisation is None or before + len(positions) != head.version:
        raise LedgerError(
            f"The stream {stream} has {before + len(positions)} events, its head counts {head.version}: it was changed "
            "by hand, so it is not pruned. `silicon audit verify` lists what was changed.",
            stream=stream,
        )
    return _Doomed(
        stream=stream,
        number=number,
        organisation=_text(organisation[0]),
        version=head.version,
        chain=bytes.fromhex(head.chain),
        runs=ranges.merged([*runs, *ranges.runs_of(positions)])[0],
        events=len(positions),
        buried=tombstone is not None,
    )


def _take_away(transaction: Transaction, one: _Doomed, pruning: Pruning) -> None:
    statements = transaction.statements
    for statement in (
        statements.delete_events,
        statements.delete_head,
        statements.delete_snapshots,
        statements.delete_fragments,
        statements.delete_tombstone,
    ):
        transaction.run(statement, one.number)
    transaction.run(
        statements.insert_tombstone,
        one.number,
        transaction.number_of(kind_of(one.stream)),
        transaction.number_of(one.organisation),
        one.version,
        one.runs[0][0],
        one.runs[-1][1],
        ranges.pack(one.runs),
        one.chain,
        pruning.reason,
        time_to_number(pruning.moment),
    )
    transaction.forget_head(one.stream)


def _record(transaction: Transaction, doomed: list[_Doomed], pruning: Pruning) -> None:
    time = time_to_text(pruning.moment)
    for organisation in dict.fromkeys(one.organisation for one in doomed):
        record = f"pruning/{organisation}"
        append = Append(
            stream=record,
            events=[NewEvent(PRUNED, _said(one, pruning)) for one in doomed if one.organisation == organisation],
            expected_version=transaction.head(record).version,
            organisation=organisation,
            source=f"/organisation/{organisation}",
        )
        store(transaction, Storing(pruning.moment, [prepare(append, time)]))


def _said(one: _Doomed, pruning: Pruning) -> dict[str, object]:
    return {
        "stream": one.stream,
        "version": one.version,
        "first_position": one.runs[0][0],
        "last_position": one.runs[-1][1],
        "positions_sha256": positions_sha256(one.runs),
        "chain_sha256": one.chain.hex(),
        "reason": pruning.reason,
    }


def _unpack(stream: Stream, positions: bytes) -> list[Run]:
    try:
        return ranges.unpack(positions)
    except (TypeError, ValueError, zlib.error) as error:
        raise LedgerError(
            f"The tombstone of {stream} was changed by hand, so the stream is not pruned again. "
            "`silicon audit verify` lists what was changed; restore the ledger from a backup.",
            stream=stream,
        ) from error


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
