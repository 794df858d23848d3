"""Snapshots of an order's stream in segments, so that going on with a long order does not read all of it.

A segment covers the events since the one before it, and never grows with history: which units were settled and by which
event, where the events stand of those that were not, and the sums of what was spent. It holds no content, so an erased
payload leaves nothing behind in it, and what a unit gave is read from its event when something asks for it. A unit in
progress is folded from its own events, so that whatever an engine keeps about it needs no second form here.

A segment may be deleted at any time: the stream tells everything it tells.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, repeat
from typing import Any

from contracts import EvidenceId, Usage
from runtime.canonical import to_bytes
from runtime.engine.states import UnitState
from runtime.engine.view import OrderView, Recent, Unit, UnitKey
from runtime.ledger.port import Snapshot

FORMAT = 1


def take_snapshot(view: OrderView, stream: str) -> Snapshot:
    """Return the segment over everything in `view` that no segment covers yet."""
    recent, settled = view.recent, _newly_settled(view)
    done = {key: unit.settled_at for key, unit in settled.items() if unit.state is UnitState.DONE}
    skipped = {key: unit.settled_at for key, unit in settled.items() if unit.state is UnitState.SKIPPED}
    in_progress = [
        (*key, versions) for key, versions in recent.units.items() if key not in settled and key not in view.settled
    ]
    data = {
        "format": FORMAT,
        "since": recent.since,
        "done": _columns(done),
        "skipped": _columns(skipped),
        "in_progress": in_progress,
        "order": recent.order,
        "usage": view.usage.to_json(),
        "uses": sorted(recent.uses),
        "artifacts": [version for version in view.artifacts if version > recent.since],
        "sealed": [[version, list(ids)] for version, ids in view.sealed.items() if version > recent.since],
        "answers": sum(map(_answers, settled.values())),
        "happened": view.happened,
        "revisions": view.revisions,
    }
    return Snapshot(stream, view.version, to_bytes(data))


def mark_taken(view: OrderView) -> None:
    """Note that the segment just taken is stored: the next one begins after it."""
    for key, unit in _newly_settled(view).items():
        view.settled[key] = unit.settled_at
        if unit.state is UnitState.SKIPPED:
            view.skipped.add(key)
    view.recent = Recent(since=view.version)


def _newly_settled(view: OrderView) -> dict[UnitKey, Unit]:
    """Return the units that a segment tells to be over, and no segment has told so far.

    One may ask why a whole step was skipped, and whether a call in doubt happened: those stay in progress.
    """
    return {
        key: unit
        for key in view.recent.units
        if key not in view.settled
        and (
            ((unit := view.units[key]).state is UnitState.DONE and not _in_doubt(unit))
            or (unit.state is UnitState.SKIPPED and unit.index is not None)
        )
    }


@dataclass(slots=True)
class Covered:
    """What the segments of a stream say together."""

    version: int = 0
    """Up to which they cover the stream without a gap."""
    versions: list[int] = field(default_factory=list)
    """Of the events before that which still have to be folded, in order."""


def put_in(view: OrderView, segments: Sequence[Snapshot]) -> Covered:
    """Put into an empty view what the segments say; return what is left to be folded.

    A segment that does not follow the one before it, or has a form that is not known here, is passed over: the events
    it covers are folded, and the next segment that is written takes its place.
    """
    covered = Covered()
    in_progress: dict[UnitKey, list[int]] = {}
    usage: Mapping[str, Any] = {}
    for segment in segments:
        data = _read(segment, covered.version)
        if data is None:
            continue
        _put_columns(view, data["done"], UnitState.DONE)
        _put_columns(view, data["skipped"], UnitState.SKIPPED)
        for step, index, versions in data["in_progress"]:
            in_progress.setdefault((step, index), []).extend(versions)
        covered.versions += data["order"]
        usage = data["usage"]
        view.used.update(data["uses"])
        view.artifacts.update(dict.fromkeys(data["artifacts"]))
        view.sealed.update({version: tuple(map(EvidenceId, ids)) for version, ids in data["sealed"]})
        view.answers_before += data["answers"]
        view.happened, view.revisions = data["happened"], data["revisions"]
        covered.version = segment.version
    view.usage = Usage.read(usage)  # of the last: each tells the sum
    covered.versions += [
        version for key, versions in in_progress.items() if key not in view.settled for version in versions
    ]
    covered.versions.sort()
    view.version = covered.version
    view.recent.since = covered.version
    return covered


def _in_doubt(unit: Unit) -> bool:
    """Whether a call of a finished conversation may have changed the world: a cancellation wants to find out."""
    return unit.react is not None and any(call.in_doubt for call in unit.react.calls)


def _answers(unit: Unit) -> int:
    return len(unit.react.counted) if unit.react is not None else 0


def _read(segment: Snapshot, since: int) -> Mapping[str, Any] | None:
    try:
        data: dict[str, Any] = json.loads(segment.data)
    except ValueError:
        return None
    fits = data.get("format") == FORMAT and data.get("since") == since
    return data if fits else None


def _columns(settled: Mapping[UnitKey, int]) -> dict[str, Any]:
    """Return step → [version], or [first and then steps of the indices, the same of the versions] of repetitions.

    Neighbours differ by little, mostly by one, so that what is packed takes next to nothing.
    """
    whole = {step: version for (step, index), version in settled.items() if index is None}
    parts: dict[str, tuple[list[int], list[int]]] = {}
    for (step, index), version in settled.items():
        if index is not None:
            indices, versions = parts.setdefault(step, ([], []))
            indices.append(index)
            versions.append(version)
    return {"whole": whole, "parts": {step: [_steps(one), _steps(other)] for step, (one, other) in parts.items()}}


def _steps(numbers: Sequence[int]) -> list[int]:
    return [number - before for number, before in zip(numbers, [0, *numbers], strict=False)]


def _put_columns(view: OrderView, columns: Mapping[str, Any], state: UnitState) -> None:
    _settle(view, [((step, None), version) for step, version in columns["whole"].items()], state)
    for step, (indices, versions) in columns["parts"].items():
        keys = zip(repeat(step), accumulate(indices), strict=False)
        _settle(view, zip(keys, accumulate(versions), strict=True), state)
        view.tallies.setdefault(step, Counter())[state] += len(indices)


def _settle(view: OrderView, settled: Iterable[tuple[UnitKey, int]], state: UnitState) -> None:
    found = dict(settled)
    view.settled.update(found)
    if state is UnitState.SKIPPED:
        view.skipped.update(found)
