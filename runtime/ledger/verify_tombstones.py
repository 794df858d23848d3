"""The audit of pruning: which gaps tombstones explain, and whether an event of the chain speaks for each of them."""

from __future__ import annotations

import hashlib
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, select, type_coerce
from sqlalchemy.types import NullType

from runtime.ledger import ranges, schema
from runtime.ledger.port import AuditFault
from runtime.ledger.ranges import Run
from runtime.ledger.rows import kind_of
from runtime.ledger.verify_rows import hex_of, is_number, moment, name, number_or_0

PRUNED = "stream.pruned"


class Tombstone(NamedTuple):
    """What stands for the pruned events of a stream, as it was found."""

    stream: str
    kind: str
    organisation: str
    version: int
    first_position: int
    last_position: int
    positions_sha256: str
    """Over the text of the runs; empty where they cannot be read."""
    chain_sha256: str
    reason: str
    at: str


class Record(NamedTuple):
    """An event that says that a stream was pruned."""

    organisation: str
    time: str
    data: Mapping[str, Any]


class Graveyard:
    """All tombstones, and the positions that they explain."""

    def __init__(self, connection: Connection, names: Mapping[int, str]) -> None:
        self.faults: list[AuditFault] = []
        self.tombstones: dict[str, Tombstone] = {}
        claimed: list[Run] = []
        columns = [type_coerce(column, NullType) for column in schema.tombstones.c]
        for row in connection.execute(select(*columns)).fetchall():
            runs = _runs(row.positions)
            tombstone = _tombstone(row, runs, names)
            self.tombstones[tombstone.stream] = tombstone
            self._judge(tombstone, runs)
            claimed += runs or []
        self._explained, twice = ranges.merged(claimed)
        for first, last in twice:
            self.faults.append(AuditFault("", 0, first, f"two tombstones speak for the events {first} to {last}"))
        self._starts = [first for first, _ in self._explained]

    def unexplained(self, first: int, last: int) -> Iterator[Run]:
        """Yield the runs of positions from `first` to `last` that no tombstone explains."""
        while first <= last:
            index = bisect_right(self._starts, first) - 1
            if index >= 0 and self._explained[index][1] >= first:
                first = self._explained[index][1] + 1
                continue
            end = min(last, self._starts[index + 1] - 1) if index + 1 < len(self._starts) else last
            yield first, end
            first = end + 1

    def explains(self, position: int) -> bool:
        """Whether a tombstone says that the event at this position was pruned."""
        return not any(self.unexplained(position, position))

    def judge_records(self, records: Mapping[str, Record]) -> Iterator[AuditFault]:
        """Hold each tombstone against the newest record of its stream's pruning, and look for each recorded one."""
        for stream, tombstone in self.tombstones.items():
            record = records.get(stream)
            if record is None:
                yield _fault(tombstone, "its stream was pruned without a record of it")
            elif wrong := sorted(_differences(tombstone, record)):
                yield _fault(tombstone, f"its tombstone does not fit the record of its pruning: {', '.join(wrong)}")
        for stream in sorted(records.keys() - self.tombstones.keys()):
            version = number_or_0(records[stream].data.get("version"))
            yield AuditFault(stream, version, None, "its tombstone is missing: a record says that it was pruned")

    def _judge(self, tombstone: Tombstone, runs: list[Run] | None) -> None:
        if runs is None:
            self.faults.append(_fault(tombstone, "the positions in its tombstone were changed and cannot be read"))
            return
        found = (ranges.count(runs), runs[0][0] if runs else 0, runs[-1][1] if runs else 0)
        if found != (tombstone.version, tombstone.first_position, tombstone.last_position):
            self.faults.append(_fault(tombstone, "the positions in its tombstone are not as many as its events"))
        if tombstone.kind != kind_of(tombstone.stream):
            self.faults.append(_fault(tombstone, f"its tombstone says that it is a stream of {tombstone.kind}"))


def _runs(stored: Any) -> list[Run] | None:
    try:
        return ranges.unpack(stored)
    except (TypeError, ValueError, zlib.error):
        return None


def _tombstone(row: Any, runs: list[Run] | None, names: Mapping[int, str]) -> Tombstone:
    return Tombstone(
        stream=name(names, row.stream),
        kind=name(names, row.kind),
        organisation=name(names, row.organisation),
        version=row.version,
        first_position=row.first_position,
        last_position=row.last_position,
        positions_sha256="" if runs is None else positions_sha256(runs),
        chain_sha256=hex_of(row.chain_sha256),
        reason=str(row.reason),
        at=moment(row.at),
    )


def positions_sha256(runs: list[Run]) -> str:
    """Return the hash by which a record covers the positions of a tombstone."""
    return hashlib.sha256(ranges.to_text(runs).encode()).hexdigest()


def _differences(tombstone: Tombstone, record: Record) -> Iterator[str]:
    for field in ("version", "first_position", "last_position", "positions_sha256", "chain_sha256", "reason"):
        if getattr(tombstone, field) != record.data.get(field):
            yield field
    if tombstone.organisation != record.organisation:
        yield "organisation"
    if tombstone.at != record.time:
        yield "at"


def _fault(tombstone: Tombstone, what: str) -> AuditFault:
    position = tombstone.last_position if is_number(tombstone.last_position) else None
    return AuditFault(tombstone.stream, number_or_0(tombstone.version), position, what)
