"""Self-evaluation as the faces show it, and one round of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from agents.cognition.evaluate import Judged, LedgerLabels, Proposed, brier, reliability
from agents.cognition.evaluate.calibration import Reliability
from agents.cognition.evaluate.labels import Standing
from console.asking import known_at
from console.folders import folder_of
from console.resources import Resources
from console.views_calibration import Calibration, EvaluationDone, GapRow, LabelRow, PromiseRow
from console.wiring import Wired
from contracts import Confidence
from runtime.errors import InvalidArguments, NotFound


class Calibrating:
    """The port `Calibrations`."""

    _resources: Resources

    async def calibration(self, folder: Path) -> Calibration:
        """Return the reliability table, every promise that was judged, and the gaps that were proposed."""
        wired = (await self._resources.organisations()).now(folder_of(folder))
        settings, name = wired.settings.evaluation, wired.organisation.name
        judged = await wired.evaluator.judged()
        labels = LedgerLabels(wired.store.ledger, name)
        standing = {row.skill: await labels.of(row.skill) for row in reliability(judged, settings)}
        return Calibration(
            name,
            tuple(_label(row, standing[row.skill]) for row in reliability(judged, settings)),
            brier(judged, settings),
            tuple(map(_promise, judged)),
            tuple([await _gap(wired, gap) for gap in await wired.proposals.all()]),
        )

    async def evaluate(self, folder: Path, *, at: datetime | None) -> EvaluationDone:
        """Judge what is due, settle the labels, and propose skills for gaps."""
        wired = (await self._resources.organisations()).now(folder_of(folder))
        moment = known_at(wired.organisation, at) or self._resources.clock.now()
        if moment > self._resources.clock.now():
            raise InvalidArguments(
                f"{moment:%Y-%m-%d %H:%M} UTC is still to come. A promise is judged once, so not before it can be.",
                at=moment.isoformat(),
            )  # fmt: skip
        done = await wired.evaluator.due(moment)
        return EvaluationDone(
            moment,
            tuple(map(_promise, done.judged)),
            tuple((each.label, each.to) for each in done.changed),
            done.waiting,
            done.not_read,
            tuple(each.card for each in done.proposed),
        )


def _label(row: Reliability, standing: Mapping[Confidence, Standing]) -> LabelRow:
    shown = standing[row.label].to if row.label in standing else row.label
    return LabelRow(
        row.skill, row.label, shown, row.promised, row.n, row.kept, row.inconclusive, row.share, row.low, row.high
    )


def _promise(one: Judged) -> PromiseRow:
    return PromiseRow(
        one.card, one.option, one.how, one.skill, one.label, one.expectation, one.kept.value, one.why, one.value, one.n,
        one.change, one.at,
    )  # fmt: skip


async def _gap(wired: Wired, gap: Proposed) -> GapRow:
    try:
        state = str((await wired.approvals.get(gap.card)).state.value)
    except NotFound:
        state = "pruned"
    return GapRow(gap.kind.value, gap.about, tuple(map(dict, gap.cases)), gap.draft, gap.card, state, gap.at)
