"""The rule that turns measurements into an answer: what a value's distance from the usual is due to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from agents.cognition.explain.breaks import change_points
from agents.cognition.explain.change import change_since
from agents.cognition.explain.confidence import Check, label_of
from agents.cognition.explain.contribution import Part, Split, causes_of, split, tested_slices
from agents.cognition.explain.lags import correlations
from agents.cognition.explain.measured import Measured, State, inconclusive
from agents.cognition.explain.series import Point, Slices, composition, is_share
from agents.cognition.explain.thresholds import Thresholds
from agents.cognition.explain.usual import Usual, judge_usual
from contracts import Confidence

DEFAULT = Thresholds()


class Verdict(StrEnum):
    """Seven answers; the last two say why there is none."""

    SLICE = "slice"
    """A few slices stand out, cover the change, and the rest is as usual without them."""
    DRIVER = "driver"
    """Another metric that goes with this one is unusual too."""
    MIX = "mix"
    """The weights of the slices changed, not what the slices do; Simpson's paradox is its extreme."""
    BROAD = "not explained"
    """It is unusual, and nothing that was looked at explains it."""
    USUAL = "nothing unusual"
    INCONCLUSIVE = "inconclusive"
    """Too little is known to say whether it is unusual."""
    NO_VALUE = "no value"
    """The period has no value: a gap, which is no drop."""


class Compare(StrEnum):
    """What a contribution is counted from."""

    USUAL = "usual"
    """All earlier periods together."""
    PREVIOUS = "previous"
    SEASON = "season"
    """The same weekday, or hour, before."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, with all the values that the answer may use. Nothing later than the last period is in it."""

    whole: Sequence[Point]
    """Oldest first; the last one is explained."""
    unit: str
    slices: Mapping[str, Slices] = field(default_factory=dict)
    """Dimension → its slices, over the same periods."""
    drivers: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    """Other metrics, over the same periods."""
    compare: Compare = Compare.USUAL
    season_lag: int = 1
    """Periods until the same season comes again; 1 where there is none."""
    most_lag: int = 2
    """Periods that another metric may be ahead."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer with everything it rests on."""

    verdict: Verdict
    confidence: Confidence
    unusual: Measured
    usual: Usual | None
    changes: tuple[Measured, ...]
    splits: tuple[Split, ...]
    correlations: tuple[Measured, ...]
    change_points: tuple[Measured, ...]
    causes: tuple[Part, ...] = ()
    dimension: str | None = None
    """The dimension of the causes, or of the mix."""
    rest: Measured | None = None
    """Whether the whole is usual without its causes."""
    driver: Measured | None = None
    checks: tuple[Check, ...] = ()

    def measured(self) -> list[Measured]:
        """Return every result, also those that found nothing."""
        slices = [one for each in self.splits for one in each.stands_out]
        return [self.unusual, *self.changes, *slices, *self.correlations, *self.change_points]


def explain(question: Question, thresholds: Thresholds = DEFAULT) -> Explanation:
    """Explain the last period; the same values give the same answer."""
    whole, unit = question.whole, question.unit
    history = len(whole) - 1
    unusual, usual = judge_usual(whole[-1], whole[:history], unit, thresholds)
    if unusual.state is not State.INCONCLUSIVE and not _comparable(question):
        unusual = inconclusive("unusual", whole[-1].period, unusual.method, "not_over", n=unusual.n)
    lags = dict.fromkeys((1, question.season_lag))
    changes = tuple(change_since(whole, lag, unit, thresholds) for lag in lags) if unusual.why != "not_over" else ()
    reference = _reference(question)
    splits = tested_slices(
        [split(name, whole, slices, reference, thresholds) for name, slices in question.slices.items()],
        whole, question.slices, unit, thresholds,
    )  # fmt: skip
    together = correlations(whole, question.drivers, question.most_lag, thresholds)
    found = _verdict(question, unusual, splits, together, thresholds)
    return Explanation(
        verdict=found.verdict,
        confidence=label_of(
            checks := (
                *_checks(found, question, unusual, usual, thresholds.for_label()),
                *_steps(found, question, usual, changes, thresholds),
            ),
            conclusive=found.verdict not in (Verdict.INCONCLUSIVE, Verdict.NO_VALUE),
        ),
        unusual=unusual,
        usual=usual,
        changes=changes,
        splits=tuple(splits),
        correlations=tuple(together),
        change_points=tuple(change_points([p for p in whole if p.over], unit, thresholds)),
        causes=found.causes,
        dimension=found.dimension,
        rest=found.rest,
        driver=found.driver,
        checks=checks,
    )


def _comparable(question: Question) -> bool:
    """Whether the last period can be held against whole ones: it is over, or its value is a mean of what there was."""
    now = question.whole[-1]
    if now.over or is_share(question.whole):
        return True
    parts = [[points[-1] for points in slices.values()] for slices in question.slices.values()]
    return any(composition(now, each) == "mean" for each in parts)


@dataclass(frozen=True, slots=True)
class _Found:
    verdict: Verdict
    causes: tuple[Part, ...] = ()
    dimension: str | None = None
    rest: Measured | None = None
    driver: Measured | None = None
    covered: float = 0.0
    p: float | None = None
    """The weakest adjusted p-value of what is named."""


def _verdict(
    question: Question,
    unusual: Measured,
    splits: Sequence[Split],
    together: Sequence[Measured],
    thresholds: Thresholds,
) -> _Found:
    """Return the answer; the order is that of certainty: no value, no judgement, usual, mix, slices, another metric."""
    if unusual.state is State.INCONCLUSIVE:
        return _Found(Verdict.NO_VALUE if unusual.why == "no_value" else Verdict.INCONCLUSIVE)
    if unusual.state is State.NOT_FOUND:
        return _Found(Verdict.USUAL)
    for each in splits:
        share = each.mix / each.change if each.change else 0.0
        if each.state is State.FOUND and (each.reversed or share >= thresholds.mix):
            return _Found(Verdict.MIX, dimension=each.dimension, covered=min(share, 1.0))
    named = [_named(question, each, thresholds) for each in splits]
    best = max((each for each in named if each.causes), key=lambda each: each.covered, default=None)
    return best or _driver(question, unusual, together, thresholds) or _Found(Verdict.BROAD)


def _named(question: Question, each: Split, thresholds: Thresholds) -> _Found:
    causes, rest = causes_of(each, question.whole, question.slices[each.dimension], question.unit, thresholds)
    names = {part.value for part in causes}
    tests = [one for one in each.stands_out if one.facts["value"] in names]
    covered = sum(part.contribution for part in causes) / each.change if causes else 0.0
    weakest = max((one.p_adjusted or 0.0 for one in tests), default=None)
    return _Found(Verdict.SLICE, tuple(causes), each.dimension, rest, covered=covered, p=weakest)


def _driver(
    question: Question, unusual: Measured, together: Sequence[Measured], thresholds: Thresholds
) -> _Found | None:
    """Return the metric that goes with this one and is, at its lag, as far out as the correlation lets expect."""
    for one in sorted(together, key=lambda each: each.p if each.p is not None else 1.0):
        points = question.drivers[one.about]
        place = len(points) - 1 - int(str(one.facts["lag"]))
        if one.state is not State.FOUND or place < thresholds.min_history:
            continue
        side = 1.0 if (one.effect or 0.0) * (unusual.effect or 0.0) > 0 else -1.0
        tail = _tail(points[place], points[:place], side)
        if tail <= thresholds.driver_tail:
            told = replace(one, facts={**one.facts, "value": points[place].value, "tail": tail})
            return _Found(Verdict.DRIVER, driver=told, covered=abs(one.effect or 0.0), p=one.p_adjusted)
    return None


def _tail(now: Point, history: Sequence[Point], side: float) -> float:
    """Return the part of the earlier values that lie at least as far to that side; 1 where nothing is known."""
    earlier = [point.value for point in history if point.value is not None]
    if now.value is None or not earlier:
        return 1.0
    return sum(side * value >= side * now.value for value in earlier) / len(earlier)


def _steps(
    found: _Found, question: Question, usual: Usual | None, changes: Sequence[Measured], thresholds: Thresholds
) -> tuple[Check, ...]:
    """Return the check that no unusual step leads from one usual value to another.

    In a series with a trend the whole history is usual, and a fall by all that it gained is no distance from it.
    """
    before = question.whole[-2].value if len(question.whole) > 1 else None
    if found.verdict is not Verdict.USUAL or usual is None or before is None or not changes:
        return ()
    was_usual = abs(before - usual.value) < thresholds.unusual * usual.spread
    stepped = was_usual and all(each.state is State.FOUND for each in changes)
    return (Check("step", not stepped, changes[0].effect if stepped else 0.0, 0.0),)


def _reference(question: Question) -> list[int]:
    last = len(question.whole) - 1
    match question.compare:
        case Compare.PREVIOUS:
            return [last - 1] if last >= 1 else []
        case Compare.SEASON:
            return [last - question.season_lag] if last >= question.season_lag else []
    return list(range(last))


def _checks(
    found: _Found, question: Question, unusual: Measured, usual: Usual | None, thresholds: Thresholds
) -> tuple[Check, ...]:
    if usual is None or unusual.state is State.INCONCLUSIVE:
        return ()
    gaps = usual.missing / max(len(question.whole) - 1, 1)
    distance = unusual.facts.get("distance")
    away = abs(float(distance)) if isinstance(distance, int | float) else None
    checks = [
        Check("history", usual.n >= thresholds.long_history, usual.n, thresholds.long_history),
        Check("gaps", gaps <= thresholds.few_missing, gaps, thresholds.few_missing),
        Check("over", question.whole[-1].over, float(question.whole[-1].over), 1.0),
    ]
    if found.verdict is Verdict.USUAL:
        plain = away is not None and away <= thresholds.plainly_usual
        return (*checks, Check("distance", plain, away, thresholds.plainly_usual))
    far = away is not None and away >= thresholds.very_unusual
    checks.append(Check("distance", far, away, thresholds.very_unusual))
    needs = thresholds.well_correlated if found.verdict is Verdict.DRIVER else thresholds.covers_well
    if found.verdict is Verdict.BROAD:
        return (*checks, Check("covers", False, 0.0, needs, vital=True))
    if found.verdict is not Verdict.MIX:
        tested = found.p is not None and found.p < thresholds.strong_alpha
        checks.append(Check("tested", tested, found.p, thresholds.strong_alpha))
    if found.driver is not None:
        tail = float(str(found.driver.facts["tail"]))
        checks.append(Check("driver", tail <= thresholds.strong_tail, tail, thresholds.strong_tail))
    return (*checks, Check("covers", found.covered >= needs, found.covered, needs))
