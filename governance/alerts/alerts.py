"""From thousands of raw signals to dozens of alerts: taken in, merged, hushed where rules say so, told to people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts import AlertId, Json, Name, Signal, SilenceId
from governance.access import Person
from governance.alerts.alert import LIFE, AlertMove, AlertView, Resolution
from governance.alerts.board import Board, Change, in_order
from governance.alerts.hushing import hush
from governance.alerts.matching import Matcher
from governance.alerts.merging import Merging, Suppressed, Why, merge
from governance.alerts.noted import Noted, noted
from governance.alerts.rules import AlertRules
from governance.alerts.silence import ENDED, LIFTED, MADE, Silence
from governance.alerts.telling import Telling, tell
from governance.alerts.timing import pass_time
from governance.errors import AlertPast
from runtime.canonical import clean
from runtime.errors import InvalidArguments
from runtime.ledger.port import NewEvent, Store

LONGEST_MATCH = 2_000
"""Characters of what a silence matches; it is looked at for every alert."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a batch of raw signals."""

    at: datetime
    signals: int
    """Raw signals that came in."""
    opened: tuple[AlertView, ...] = ()
    """New ones, and such as came back; also those of which nobody is told, with their `hushes`."""
    grown: tuple[AlertView, ...] = ()
    """Those into which more was merged."""
    resolved: tuple[AlertView, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    """Every raw signal of which nobody is told, with the reason."""
    tellings: tuple[Telling, ...] = ()
    """What people are told now; the ledger holds it already."""

    @property
    def why(self) -> Mapping[str, int]:
        """Reason → how many raw signals were suppressed for it."""
        return Counter(each.why.value for each in self.suppressed)

    def __add__(self, other: Taken) -> Taken:
        """Return what came of this batch and the one after it."""
        newest = {view.alert_id: view for view in (*other.opened, *other.grown, *other.resolved)}
        opened = _newest(self.opened, other.opened, newest)
        grown = tuple(view for view in _newest(self.grown, other.grown, newest) if view not in opened)
        return Taken(
            other.at, self.signals + other.signals, opened, grown, _newest(self.resolved, other.resolved, newest),
            self.suppressed + other.suppressed, self.tellings + other.tellings,
        )  # fmt: skip


class Alerts:
    """The alerts of one organisation; several processes may have one each."""

    def __init__(self, store: Store, organisation: Name, rules: AlertRules | Callable[[], AlertRules]) -> None:
        self._board = Board(store.ledger, organisation)
        self._rules: Callable[[], AlertRules] = (lambda: rules) if isinstance(rules, AlertRules) else rules

    async def take(self, signals: Sequence[Signal], at: datetime) -> Taken:
        """Take in what sensors noticed, and let time have its effect up to `at`; see `note`."""
        return await self.note([noted(signal) for signal in signals], at)

    async def note(self, raw: Sequence[Noted], at: datetime) -> Taken:
        """Take in raw signals of any source, and let time have its effect up to `at`; with none it only does that.

        Everything of one batch is one commit (`at_once` raw signals at most); what changes nothing is none. A process
        that dies before the commit has taken nothing in, and the same signals given again count once.

        Raises:
            VersionConflict: too many processes change alerts at once.
        """
        rules = self._rules()
        parts = [raw[start : start + rules.at_once] for start in range(0, len(raw), rules.at_once)] or [raw]
        taken = await self._note(parts[0], at, rules)
        for part in parts[1:]:
            taken = taken + await self._note(part, at, rules)
        return taken

    async def tick(self, at: datetime) -> Taken:
        """Let time have its effect: waits, levels of escalation, ends of silences, alerts that are over."""
        return await self.note((), at)

    async def _note(self, raw: Sequence[Noted], at: datetime, rules: AlertRules) -> Taken:
        def work(change: Change) -> Taken:
            merging = merge(change.drafts, raw, at, rules)
            merging.resolved += pass_time(change.drafts, at, rules)
            tellings = self._settle(change, at, rules)
            taken = _taken(change, raw, merging, tellings, at)
            if raw:
                why: dict[str, Json] = dict(taken.why)
                change.facts |= {
                    "signals": len(raw), "opened": len(taken.opened), "grown": len(taken.grown), "suppressed": why
                }  # fmt: skip
            return taken

        return await self._board.change(work, at)

    def _settle(self, change: Change, at: datetime, rules: AlertRules) -> list[Telling]:
        """Work out who hears what after a change."""
        for silence in list(change.silences.values()):
            if at >= silence.until:
                del change.silences[silence.silence_id]
                ended = NewEvent(ENDED, {"at": clean(at)})
                change.appends.append(self._board.append_to(silence.silence_id, silence.version, ended))
        hush(change.drafts, list(change.silences.values()), at, rules)
        return tell(change.drafts, at, rules)

    # looking
    async def open(self, at: datetime) -> list[AlertView]:
        """Return the alerts that go on at that moment, the most pressing first; those hushed are among them."""
        await self._board.look()
        return [view for view in in_order(self._board.alerts.values()) if view.is_live and view.opened_at <= at]

    async def recent(self) -> list[AlertView]:
        """Return the alerts that go on, and those that are over but not for long, the most pressing first."""
        await self._board.look()
        return list(in_order(self._board.alerts.values()))

    async def get(self, alert_id: AlertId) -> AlertView:
        """Return one alert, closed ones too; raise NotFound when there is none of that id."""
        return await self._board.get(alert_id)

    async def silences(self, at: datetime) -> list[Silence]:
        """Return the silences that hold at that moment, the one that ends first first."""
        await self._board.look()
        return sorted((each for each in self._board.silences.values() if each.holds(at)), key=lambda each: each.until)

    # what people do
    async def acknowledge(self, alert_id: AlertId, person: Person, at: datetime, reason: str = "") -> AlertView:
        """Take an alert on: nobody else is called for it.

        Raises:
            NotFound: there is no such alert.
            AlertPast: it is acknowledged already, or over.
        """
        return await self._move(alert_id, AlertMove.ACKNOWLEDGE, "alert.acknowledged", person, at, reason=reason)

    async def resolve(self, alert_id: AlertId, person: Person, at: datetime, reason: str = "") -> AlertView:
        """Say that an alert is over; signals that come after open it again.

        Raises:
            NotFound: there is no such alert.
            AlertPast: it is over already.
        """
        facts = {"how": Resolution.PERSON.value, "reason": reason}
        return await self._move(alert_id, AlertMove.RESOLVE, "alert.resolved", person, at, **facts)

    async def attend(self, alert_ids: Sequence[AlertId], at: datetime, scores: Mapping[AlertId, float]) -> None:
        """Remember that attention was given to these alerts; those that are closed meanwhile are passed over."""

        def work(change: Change) -> None:
            there = {view.alert_id for view in change.drafts}
            for alert_id in alert_ids:
                if alert_id in there:
                    change.drafts.of(alert_id).emit("alert.attended", at, score=scores[alert_id])

        await self._board.change(work, at)

    async def silence(self, match: Matcher, person: Person, at: datetime, *, until: datetime, reason: str) -> Silence:
        """Let nobody be told of what matches, until then.

        Raises:
            InvalidArguments: it matches everything, gives no reason, or ends before it begins or too late.
        """
        rules = self._rules()
        _require(
            bool(match.wanted), "A silence names at least one label; one over everything would hide what nobody knows."
        )
        _require(all(match.wanted.values()), "Each label of a silence needs a value; `*` stands for any.")
        _require(len(match.text()) <= LONGEST_MATCH, f"A silence matches by {LONGEST_MATCH:,} characters at most.")
        _require(bool(reason.strip()), "A silence says why: give a reason.")
        _require(until > at, f"A silence ends after it begins; {until:%Y-%m-%d %H:%M} UTC is not after {at:%H:%M}.")
        most = rules.silence_most
        _require(
            until - at <= most, f"A silence lasts {most.total_seconds() / 86_400:g} days at most; make it shorter."
        )
        made = Silence(
            silence_id=SilenceId.new(), match=match, by=person.id, reason=reason.strip(), begins=at, until=until
        )

        def work(change: Change) -> Silence:
            change.silences[made.silence_id] = made
            event = NewEvent(MADE, made.to_json())
            change.appends.append(self._board.append_to(made.silence_id, 0, event))
            self._settle(change, at, rules)
            return made

        return await self._board.change(work, at)

    async def lift(self, silence_id: SilenceId, person: Person, at: datetime) -> Silence:
        """End a silence now.

        Raises:
            NotFound: there is no such silence.
            AlertPast: it is over already.
        """
        await self._board.get_silence(silence_id)
        rules = self._rules()

        def work(change: Change) -> None:
            silence = change.silences.pop(silence_id, None)
            if silence is None:
                raise AlertPast(f"{silence_id} is over already; nothing was changed.", id=silence_id)
            event = NewEvent(LIFTED, {"at": clean(at), "by": person.id})
            change.appends.append(self._board.append_to(silence_id, silence.version, event))
            self._settle(change, at, rules)

        await self._board.change(work, at)
        return await self._board.get_silence(silence_id)

    async def _move(
        self, alert_id: AlertId, move: AlertMove, type_: str, person: Person, at: datetime, **facts: str
    ) -> AlertView:
        await self._board.get(alert_id)
        rules = self._rules()

        def work(change: Change) -> AlertView:
            view = next((each for each in change.drafts if each.alert_id == alert_id), None)
            if view is None or (view.state, move) not in LIFE:
                raise _refused(alert_id, move, view)
            draft = change.drafts.of(alert_id)
            draft.emit(type_, at, by=person.id, **{name: clean(value) for name, value in facts.items()})
            self._settle(change, at, rules)
            return draft.view

        return await self._board.change(work, at)


def _taken(change: Change, raw: Sequence[Noted], merging: Merging, tellings: Sequence[Telling], at: datetime) -> Taken:
    views = {view.alert_id: view for view in change.drafts}
    hushed = [
        Suppressed(each, Why(hushes[0].reason.value), alert_id, hushes[0].by)
        for each, alert_id in merging.new
        if (hushes := views[alert_id].hushes)
    ]
    opened, grown, resolved = (
        tuple(views[each] for each in ids) for ids in (merging.opened, merging.grown, merging.resolved)
    )
    return Taken(at, len(raw), opened, grown, resolved, (*merging.suppressed, *hushed), tuple(tellings))


def _newest(
    some: Sequence[AlertView], more: Sequence[AlertView], newest: Mapping[AlertId, AlertView]
) -> tuple[AlertView, ...]:
    """Return each alert once, as it stands in the end."""
    return tuple({view.alert_id: newest.get(view.alert_id, view) for view in (*some, *more)}.values())


def _refused(alert_id: AlertId, move: AlertMove, view: AlertView | None) -> AlertPast:
    if view is None:
        return AlertPast(f"{alert_id} is closed; nothing was changed.", id=alert_id)
    by = f" by {view.acknowledged_by}" if view.acknowledged_by else ""
    return AlertPast(
        f"{alert_id} is {view.state.value}{by}; it takes no {move.value}. Nothing was changed.",
        id=alert_id, state=view.state.value, move=move.value,
    )  # fmt: skip


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidArguments(otherwise)
