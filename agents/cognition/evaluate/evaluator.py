"""Evaluates: holds what decided cards promised against what their metrics say, once each, and corrects labels by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.cognition.evaluate.calibration import corrections_due, reliability
from agents.cognition.evaluate.labels import LedgerLabels, Standing
from agents.cognition.evaluate.promise import Judged, Kept, judge
from agents.cognition.evaluate.proposing import Proposals, Proposed
from contracts import CardId, CardKind, Event, Expectation, Name, Option, OrderId
from governance.approvals import CardState
from governance.approvals.card import CardView, fold_card
from governance.errors import IllegalTransition
from memory import buckets
from memory.metrics import MetricRegistry
from runtime.errors import CapabilityFailed, NotFound, VersionConflict
from runtime.ledger.port import Append, Ledger, NewEvent
from runtime.settings.evaluation import EvaluationSettings

_NOTHING_HAPPENED = ("denied", "expired")
"""Ends of a card after which nothing was done, so that the promise of doing nothing is the one that counts."""
_ENDED_BY = (
    "card.decided", "card.passed", "card.expired", "card.used", "card.executed", "card.reviewed", "card.joined",
)  # fmt: skip
"""Types of the last event of a card that may have ended so: cards that wait, however many, are not read."""
_CARRIED_OUT = ("approved", "executed")
"""Ends after which the chosen option was. A choice that failed or was taken back promised nothing that can be read."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What one round found."""

    judged: tuple[Judged, ...]
    changed: tuple[Standing, ...]
    """Labels that are shown otherwise from now on."""
    not_read: tuple[tuple[CardId, str], ...]
    """Promises whose metric could not be read now, with the reason; they are tried again."""
    waiting: int
    """Promises whose period is not over, or whose data may still arrive."""
    proposed: tuple[Proposed, ...] = ()
    """Gaps that were put before people now."""


class Evaluator:
    """Evaluates the cards of one organisation."""

    def __init__(
        self,
        ledger: Ledger,
        registry: MetricRegistry,
        organisation: Name,
        settings: EvaluationSettings,
        proposals: Proposals | None = None,
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._organisation = organisation
        self._settings = settings
        self._proposals = proposals
        self._labels = LedgerLabels(ledger, organisation)
        self._without: set[str] = set()
        """Cards that promise nothing which could be read; they are not looked at again."""

    async def due(self, at: datetime) -> Evaluated:
        """Judge every promise whose period is over at `at`, as known then, settle the labels, and propose for gaps.

        A value is read when its data was due, by the metric's freshness: before, it may still change. One that is
        missing then may be late: it is waited for as long as `evaluation.wait_s` says, and after that the promise is
        inconclusive. Each promise is judged once.
        """
        judged: list[Judged] = []
        not_read: list[tuple[CardId, str]] = []
        waiting = 0
        for view in await self._promising():
            option = _happened(view)
            assert option is not None and option.expects is not None
            if option.expects.ends_at > at:
                waiting += 1
                continue
            try:
                one = await self._judge(view, option, at)
            except CapabilityFailed as error:
                not_read.append((view.card.card_id, error.message))
                continue
            if one is None:
                waiting += 1
            elif await self._store(one, view):
                judged.append(one)
        changed = await self._settle()
        proposed = await self._proposals.propose() if self._proposals else ()
        return Evaluated(tuple(judged), tuple(changed), tuple(not_read), waiting, tuple(proposed))

    async def judged(self) -> list[Judged]:
        """Return every promise that was judged, oldest first."""
        events = await self._ledger.read_streams(self._prefix)
        return [Judged.from_json(event.data) for event in events if event.data is not None]

    async def _settle(self) -> list[Standing]:
        rows = reliability(await self.judged(), self._settings)
        return await self._labels.settle(rows, corrections_due(rows, self._settings))

    async def _promising(self) -> list[CardView]:
        """Return the cards that ended, promise something, and were not judged yet."""
        done = {stream.rpartition("/")[2] for stream in await self._ledger.streams("promise", prefix=self._prefix)}
        found = []
        for stream in await self._ledger.streams("card", organisation=self._organisation, last_types=_ENDED_BY):
            card_id = CardId(stream)
            if card_id.ulid in done or stream in self._without:
                continue
            view = _readable(await self._ledger.read(stream))
            if view is not None and (view.is_open or _is_under_way(view)):
                continue
            if view is None or _promise(view) is None:
                self._without.add(stream)
            else:
                found.append(view)
        return found

    async def _judge(self, view: CardView, option: Option, at: datetime) -> Judged | None:
        expected = option.expects
        assert expected is not None
        value, rows, change, version = None, 0, None, None
        kept: Kept
        why: str | None
        try:
            version = self._registry.formula_version(expected.metric)
        except NotFound:
            kept, why = Kept.INCONCLUSIVE, "metric_gone"
        else:
            if version == expected.metric_version and self._is_read_so(expected):
                start = buckets.from_text(expected.period, expected.grain)
                read = await self._registry.value(
                    expected.metric, expected.grain, at=at, bucket=buckets.to_text(start, expected.grain),
                    where=expected.where,
                )  # fmt: skip
                if read and not read[0].complete:  # of what its data gave so far nothing follows, and it is judged once
                    return None
                value, rows = (read[0].value, read[0].n) if read else (None, 0)
            kept, why = judge(expected, value, version)
            if why == "no_value" and not self._is_read_so(expected):
                why = "definition_changed"
            if why == "no_value" and at < expected.ends_at + self._patience(expected.metric):
                return None
            change = None if value is None else value - expected.baseline
        return Judged(
            view.card.card_id, option.id, str(view.state.value), await self._skill_of(view.card.order_id),
            option.confidence, expected, kept, why, value, rows, change, at, version,
        )  # fmt: skip

    def _is_read_so(self, expected: Expectation) -> bool:
        """Whether the metric still has that grain, and those dimensions."""
        metric = self._registry.get(expected.metric)
        return expected.grain in metric.grains and expected.where.keys() <= metric.dimensions.keys()

    def _patience(self, metric: str) -> timedelta:
        return self._registry.freshness(metric) + timedelta(seconds=self._settings.wait_s)

    async def _skill_of(self, order_id: OrderId) -> Name | None:
        events = await self._ledger.read_versions(order_id, [1])
        order: Mapping[str, object] = events[0].data.get("order", {}) if events and events[0].data else {}  # type: ignore[assignment]
        return str(order["skill"]) if order.get("skill") else None

    async def _store(self, one: Judged, view: CardView) -> bool:
        """Store it; return False when another process was quicker."""
        append = Append(
            stream=f"{self._prefix}{one.card.ulid}",
            events=(NewEvent("promise.judged", one.to_json()),),
            expected_version=0,
            organisation=self._organisation,
            source=f"/organisation/{self._organisation}/evaluation",
            execution_id=view.card.execution_id,
        )
        try:
            await self._ledger.append(append)
        except VersionConflict:
            return False
        return True

    @property
    def _prefix(self) -> str:
        return f"promise/{self._organisation}/"


def _is_under_way(view: CardView) -> bool:
    """Whether what was approved is still to be carried out."""
    chosen = view.chosen if view.state is CardState.APPROVED else None
    return chosen is not None and len(view.used_by) < len(chosen.actions)


def _happened(view: CardView) -> Option | None:
    """Return the option that took place: the one carried out, or doing nothing where nothing was decided."""
    state = view.state.value
    if state in _CARRIED_OUT:
        return view.chosen
    if state in _NOTHING_HAPPENED:
        return next((option for option in view.card.options if not option.actions), None)
    return None


def _promise(view: CardView) -> Option | None:
    option = _happened(view) if view.card.kind is CardKind.CHOICE else None
    return option if option is not None and option.expects is not None else None


def _readable(events: Sequence[Event]) -> CardView | None:
    """Return how a card stands; None for one that was pruned or erased: nobody can say what it promised."""
    try:
        return fold_card(events)
    except (NotFound, IllegalTransition):
        return None
