"""Silences: a person says that alerts which match are told to nobody, why, and until when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from contracts import Event, Json, Name, SilenceId
from governance.alerts.fold import moment
from governance.alerts.matching import Matcher
from runtime.canonical import clean
from runtime.errors import NotFound

MADE, LIFTED, ENDED = "silence.made", "silence.lifted", "silence.ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """One silence."""

    silence_id: SilenceId
    match: Matcher
    by: Name
    """Who made it."""
    reason: str
    begins: datetime
    until: datetime
    version: int = 1
    lifted_by: Name | None = None
    lifted_at: datetime | None = None
    ended: bool = False
    """Whether its time was over when somebody looked last."""

    def holds(self, at: datetime) -> bool:
        """Whether it holds at that moment."""
        return self.lifted_at is None and self.begins <= at < self.until

    def to_json(self) -> dict[str, Json]:
        """Return what is stored when it is made."""
        return {
            "at": clean(self.begins), "match": clean(self.match.to_json()), "by": self.by, "reason": clean(self.reason),
            "until": clean(self.until),
        }  # fmt: skip


def fold_silence(events: Sequence[Event]) -> Silence:
    """Return how a silence stands after its events.

    Raises:
        NotFound: there are none, or they were erased.
    """
    if not events or events[0].data is None:
        raise NotFound("There is no such silence.")
    silence = _made(SilenceId(events[0].subject), events[0].data)
    for event in events[1:]:
        data = event.data or {}
        silence = replace(silence, version=event.stream_version)
        if event.type == LIFTED:
            silence = replace(silence, lifted_by=str(data.get("by", "")), lifted_at=moment(data["at"]))
        elif event.type == ENDED:
            silence = replace(silence, ended=True)
    return silence


def _made(silence_id: SilenceId, data: Mapping[str, Json]) -> Silence:
    return Silence(
        silence_id=silence_id, match=Matcher.read(data["match"]), by=str(data["by"]),  # type: ignore[arg-type]
        reason=str(data["reason"]), begins=moment(data["at"]), until=moment(data["until"]),
    )  # fmt: skip
