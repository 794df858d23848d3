"""Buckets that belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.judge import Judged, Standing, slice_text
from contracts import Grain
from memory.buckets import next_start


@dataclass(frozen=True, slots=True)
class Episode:
    """Firing buckets of one slice with no gap longer than the sensor merges."""

    slice: str
    buckets: tuple[Judged, ...]

    @property
    def first(self) -> Judged:
        """The bucket it began with; the signal is about it."""
        return self.buckets[0]

    @property
    def last(self) -> Judged:
        """The bucket it ended with, so far."""
        return self.buckets[-1]


def episodes(definition: SensorDefinition, judged: Sequence[Judged]) -> list[Episode]:
    """Return the episodes of the firing buckets, in order of their beginning."""
    found: dict[str, list[list[Judged]]] = defaultdict(list)
    for bucket in judged:
        if bucket.standing is not Standing.FIRES:
            continue
        groups = found[slice_text(bucket.value)]
        if groups and belong_together(definition, groups[-1][-1].value.start, bucket.value.start):
            groups[-1].append(bucket)
        else:
            groups.append([bucket])
    all_of_them = [Episode(slice_, tuple(group)) for slice_, groups in found.items() for group in groups]
    return sorted(all_of_them, key=lambda episode: (episode.first.value.start, episode.slice))


def belong_together(definition: SensorDefinition, earlier: datetime, later: datetime) -> bool:
    """Whether the gap between the end of one bucket and the start of the next is short enough to be one episode."""
    if definition.merge_gap_s is None:
        return False
    gap = later - next_start(earlier, Grain(definition.grain))
    return gap.total_seconds() <= definition.merge_gap_s
