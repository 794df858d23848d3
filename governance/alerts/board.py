"""What is known of an organisation's alerts, folded from the ledger, and the one place that changes it.

Every alert and every silence is a stream of its own. A stream `alerts/ORGANISATION` beside them makes one writer at a
time out of many processes: whoever changes anything appends to it in the same commit, and says there what was touched,
so that the others read just that. What it costs to go on follows from what is open, never from the history.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from contracts import AlertId, Json, SilenceId
from governance.alerts.alert import AlertState, AlertView
from governance.alerts.draft import Draft, Drafts
from governance.alerts.fold import LIVE_TYPES, fold_alert
from governance.alerts.silence import MADE, Silence, fold_silence
from governance.errors import IllegalTransition
from runtime.canonical import clean
from runtime.errors import NotFound, VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent

T = TypeVar("T")

_TRIES = 50
"""Changes at once before a writer gives up; each lost try means that somebody else's went in."""
CHANGED = "alerts.changed"


@dataclass(slots=True)
class Change:
    """What is about to be committed."""

    drafts: Drafts
    silences: dict[SilenceId, Silence]
    """Those that were not over."""
    appends: list[Append] = field(default_factory=list)
    """Beside those of the drafts."""
    facts: dict[str, Json] = field(default_factory=dict)
    """What the common stream says of it."""


class Board:
    """The alerts and silences of one organisation as this process knows them."""

    def __init__(self, ledger: Ledger, organisation: str) -> None:
        self._ledger = ledger
        self._organisation = organisation
        self._stream = f"alerts/{organisation}"
        self._source = f"/organisation/{organisation}/alerts"
        self._version: int | None = None
        """How far the common stream is folded in; None before the first look."""
        self.alerts: dict[AlertId, AlertView] = {}
        """All that are not closed."""
        self.silences: dict[SilenceId, Silence] = {}
        self._turn = asyncio.Lock()
        """Tasks of one process take turns: what one reads must not take the place of what another knows already."""

    async def look(self) -> None:
        """Take in what other processes did since the last look."""
        async with self._turn:
            await self._look()

    async def _look(self) -> None:
        if self._version is None:
            await self._begin()
            return
        touched: set[str] = set()
        for event in await self._ledger.read(self._stream, after_version=self._version):
            self._version = event.stream_version
            touched.update(map(str, (event.data or {}).get("touched") or ()))  # type: ignore[arg-type]
        for stream in sorted(touched):
            await self._read(stream)

    async def change(self, work: Callable[[Change], T], at: datetime) -> T:
        """Let `work` change something and commit it; it is done again whenever another process was faster.

        Args:
            work: emits events on drafts and returns what came of it; it may be called several times.
            at: the moment that counts.

        Raises:
            VersionConflict: too many processes change alerts at once.
        """
        async with self._turn:
            for _ in range(_TRIES):
                await self._look()
                change = Change(Drafts(self._organisation, self.alerts.values()), dict(self.silences))
                result = work(change)
                if await self._commit(change, at):
                    return result
        raise VersionConflict(f"The alerts of {self._organisation} are changed by too many at once; try again.")

    async def get(self, alert_id: AlertId) -> AlertView:
        """Return one alert, closed ones too; raise NotFound when this organisation has none of that id."""
        events = await self._ledger.read(alert_id)
        if not events or events[0].organisation != self._organisation:
            raise NotFound(f"There is no {alert_id} in {self._organisation}.", id=alert_id)
        return fold_alert(events)

    async def get_silence(self, silence_id: SilenceId) -> Silence:
        """Return one silence, past ones too; raise NotFound when this organisation has none of that id."""
        events = await self._ledger.read(silence_id)
        if not events or events[0].organisation != self._organisation:
            raise NotFound(f"There is no {silence_id} in {self._organisation}.", id=silence_id)
        return fold_silence(events)

    def append_to(self, stream: str, version: int, event: NewEvent) -> Append:
        """Return an append to a stream of this organisation."""
        return Append(stream, [event], version, self._organisation, self._source)

    async def _begin(self) -> None:
        newest = await self._ledger.read_newest(self._stream)
        self._version = newest[0].stream_version if newest else 0
        streams = [
            *await self._ledger.streams("alert", organisation=self._organisation, last_types=LIVE_TYPES),
            *await self._ledger.streams("silence", organisation=self._organisation, last_types=(MADE,)),
        ]
        for stream in streams:
            await self._read(stream)

    async def _read(self, stream: str) -> None:
        """Take in one stream that somebody else wrote."""
        silence = stream.startswith(f"{SilenceId.KIND}/")
        try:
            if silence:
                self._keep_silence(fold_silence(await self._ledger.read(stream)))
                return
            known = self.alerts.get(AlertId(stream))
            version = 0 if known is None else known.version
            self._keep(fold_alert(await self._ledger.read(stream, after_version=version), known))
        except (NotFound, IllegalTransition):  # pruned or erased: nothing can happen to it any more
            if silence:
                self.silences.pop(SilenceId(stream), None)
            else:
                self.alerts.pop(AlertId(stream), None)

    async def _commit(self, change: Change, at: datetime) -> bool:
        """Store what happened; return False when somebody else was faster."""
        drafts = change.drafts.changed()
        if not drafts and not change.appends:
            return True
        touched: list[Json] = [*(draft.alert_id for draft in drafts), *(each.stream for each in change.appends)]
        data: Mapping[str, Json] = {"at": clean(at), "touched": touched, **change.facts}
        appends = [
            Append(self._stream, [NewEvent(CHANGED, data)], self._version or 0, self._organisation, self._source),
            *(self._append_of(draft) for draft in drafts), *change.appends,
        ]  # fmt: skip
        try:
            await self._ledger.append(*appends)
        except VersionConflict:
            return False
        self._version = (self._version or 0) + 1
        for draft in drafts:
            self._keep(draft.view)
        for append in change.appends:
            await self._read(append.stream)
        return True

    def _append_of(self, draft: Draft) -> Append:
        return Append(draft.alert_id, draft.events, draft.version, self._organisation, self._source)

    def _keep(self, view: AlertView) -> None:
        if view.state is AlertState.CLOSED:
            self.alerts.pop(view.alert_id, None)
        else:
            self.alerts[view.alert_id] = view

    def _keep_silence(self, silence: Silence) -> None:
        if silence.lifted_at is not None or silence.ended:
            self.silences.pop(silence.silence_id, None)
        else:
            self.silences[silence.silence_id] = silence


def in_order(views: Iterable[AlertView]) -> Sequence[AlertView]:
    """Return alerts as they are listed: those that are heard, the most pressing first, then the oldest."""
    return sorted(views, key=lambda view: (bool(view.hushes), view.priority, view.opened_at, view.key))
