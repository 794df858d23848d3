"""The attention of an organisation: what is seen to now, what is not and why, written down where it changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agents.cognition.attend.ranking import Attended, LeftOut, Ranked, rank
from contracts import Json, Name
from governance.alerts import Alerts
from runtime.canonical import clean
from runtime.errors import VersionConflict
from runtime.ledger.port import Append, NewEvent, Store
from runtime.settings import AttentionSettings

GIVEN = "attention.given"
_TRIES = 10


class Attention:
    """Ranks the open alerts of one organisation."""

    def __init__(self, store: Store, alerts: Alerts, organisation: Name, settings: AttentionSettings) -> None:
        self._ledger = store.ledger
        self._alerts = alerts
        self._organisation = organisation
        self._settings = settings

    async def now(self, at: datetime) -> Attended:
        """Return what would be seen to at that moment; nothing is written down."""
        return rank(await self._alerts.open(at), at, self._settings)

    async def give(self, at: datetime) -> Attended:
        """Return what is seen to now. It is an event when it differs from what the last round said.

        An alert comes again in the next round until `gave` says that it was seen to, so that a process which dies in
        between loses none.
        """
        attended = await self.now(at)
        order: list[Json] = [_told(ranked) for ranked in attended.order]
        left_out: list[Json] = [_left(out) for out in attended.left_out]
        for _ in range(_TRIES):
            newest = await self._ledger.read_newest(f"attention/{self._organisation}")
            before = (newest[0].data or {}) if newest else {}
            if _same(before, order, left_out):
                return attended
            data = {"at": clean(at), "order": order, "left_out": left_out}
            version = newest[0].stream_version if newest else 0
            try:
                await self._ledger.append(self._append(NewEvent(GIVEN, data), version))
            except VersionConflict:
                continue
            return attended
        raise VersionConflict("Too many give attention at once; one server is enough.")

    async def gave(self, ranked: Sequence[Ranked], at: datetime) -> None:
        """Say that these were seen to: what follows from them has begun."""
        scores = {each.alert.alert_id: round(each.score, 6) for each in ranked}
        await self._alerts.attend(list(scores), at, scores)

    def _append(self, event: NewEvent, version: int) -> Append:
        source = f"/organisation/{self._organisation}/attention"
        return Append(f"attention/{self._organisation}", [event], version, self._organisation, source)


def _told(ranked: Ranked) -> dict[str, Json]:
    parts: dict[str, Json] = {name: round(part, 6) for name, part in ranked.parts.items()}
    return {"alert": ranked.alert.alert_id, "score": round(ranked.score, 6), "parts": parts}


def _left(out: LeftOut) -> dict[str, Json]:
    return {"alert": out.alert.alert_id, "why": out.why.value, "by": out.by}


def _same(before: dict[str, Json], order: Sequence[Json], left_out: Sequence[Json]) -> bool:
    """Whether the last round saw to the same, in the same order, and left out the same for the same reasons."""
    earlier = before.get("order") or []
    return before.get("left_out", []) == left_out and _names(earlier) == _names(order)


def _names(order: Json | Sequence[Json]) -> list[Json]:
    return [each["alert"] for each in order if isinstance(each, dict)] if isinstance(order, list) else []
