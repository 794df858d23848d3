"""What an attribution is given and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Verdict(StrEnum):
    """Five answers; the last two say why there is no cause to name."""

    CONDITION = "condition"
    SLICE = "slice"
    NOT_EXPLAINED = "not explained"
    NOTHING_UNUSUAL = "nothing unusual"
    INCONCLUSIVE = "inconclusive"


class Confidence(StrEnum):
    """How well the statistics support a verdict; see `confidence.py`."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Every number of the rule, each with its reason; an example that uses others says how it came to them."""

    alpha: float = 0.05
    """Error rate of each family of tests after Holm's correction; the effect sizes below do the rest of the work."""
    strong_alpha: float = 0.01
    """Adjusted p-value that high confidence needs."""
    min_units: int = 30
    """Fewer units so far: inconclusive."""
    min_history: int = 14
    """Earlier periods that a usual rate needs: two full weeks."""
    min_excess: float = 20.0
    """Hits above the usual from which a period needs an explanation; about 2 % of a day of a thousand units."""
    slice_min_units: int = 20
    """Units a slice must have to be tried."""
    slice_min_hits: int = 10
    """Hits a slice must have to be carried through; below it a slice is tried and not found."""
    slice_min_history: int = 20
    """Earlier periods that a slice's usual odds need; a 90 % quantile of fewer hangs on one value."""
    slice_min_effect: float = 2.0
    """Odds of the slice today, as a multiple of its usual odds."""
    slice_min_excess: float = 5.0
    """Hits above what the slice's usual odds give in the company of the rest."""
    max_slices: int = 3
    """A cause of more slices than this is no slice."""
    condition_share: float = 0.5
    """Part of the excess that must lie under the condition."""
    strong_share: float = 0.8
    """Part of the excess that high confidence in the condition needs."""
    strong_effect: float = 3.0
    """Odds, as a multiple of the usual odds, that high confidence in a slice needs."""
    contrast_min_expected: float = 5.0
    """Hits expected outside the condition, if it made no difference, from which they are compared; Cochran (1954)."""
    contrast_effect: float = 2.0
    """Odds under the condition against outside it that high confidence needs."""
    flood: float = 10.0
    """Rate under the condition over the usual rate that stands in for a contrast where too little lies outside."""
    unknown_share: float = 0.25
    """Part of the hits whose condition is unknown from which confidence is low."""

    def for_label(self) -> Thresholds:
        """Return what a label is earned by: a plan may ask for more than is usual, and never for less.

        A label decides whether a person is asked, and whoever writes the arguments of a call must not decide that.
        """
        usual = Thresholds()
        return replace(
            self,
            strong_alpha=min(self.strong_alpha, usual.strong_alpha),
            strong_share=max(self.strong_share, usual.strong_share),
            strong_effect=max(self.strong_effect, usual.strong_effect),
            contrast_min_expected=min(self.contrast_min_expected, usual.contrast_min_expected),
            contrast_effect=max(self.contrast_effect, usual.contrast_effect),
            flood=max(self.flood, usual.flood),
            unknown_share=min(self.unknown_share, usual.unknown_share),
        )


@dataclass(frozen=True, slots=True)
class History:
    """What earlier periods say. Only what was known at the moment of judgement may be in it."""

    periods: int
    """Earlier periods counted."""
    usual_rate: float
    """Median of the rates of the earlier periods."""
    usual_odds: Mapping[tuple[str, str], tuple[float, int]]
    """(dimension, value) to the upper end of the slice's usual odds ratio, and the number of periods behind it."""


@dataclass(frozen=True, slots=True)
class Design:
    """How units are cut."""

    slices: Mapping[str, Sequence[str]]
    """Dimension to the keys of the strata in which its slices are compared with the rest, in order of preference."""
    condition_site: str
    """Key of the place where the condition is measured; slices of this dimension share its fate."""


@dataclass(frozen=True, slots=True)
class SliceFinding:
    """A slice that stands out."""

    dimension: str
    value: str
    n: int
    hits: int
    expected: float
    """Hits in comparable strata that the slice's usual odds would give, rounded to 3 places."""
    odds: float
    usual_odds: float
    effect: float
    """`odds` divided by `usual_odds`."""
    p: float
    p_adjusted: float
    condition_share: float
    """Part of the slice's hits that lie under the condition."""


@dataclass(frozen=True, slots=True)
class SiteFinding:
    """The condition at one place."""

    site: str
    n: int
    hits: int
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class ConditionFinding:
    """How far the condition covers the excess."""

    share: float
    """Part of the excess under the condition, rounded to 3 places; it can pass 1."""
    n: int
    hits: int
    p: float
    contrast_n: int
    """Units whose condition is known to be absent."""
    contrast_hits: int
    contrast_expected: float
    """Hits among those of them that have a counterpart at the same place, if the condition made no difference."""
    contrast_odds: float
    contrast_p: float
    unknown_hits: int
    sites: tuple[SiteFinding, ...]
    """Places where the rate under the condition is above the usual, Holm-corrected, in order of name."""
    holds: bool


@dataclass(frozen=True, slots=True)
class Attribution:
    """The answer for one period at one moment, with the counts it rests on."""

    verdict: Verdict
    confidence: Confidence
    n: int
    hits: int
    usual_rate: float
    excess: float
    """Hits above the usual, rounded to 3 places."""
    unusual: bool
    causes: tuple[SliceFinding, ...]
    """The slices named as the cause, first found first; empty unless the verdict is `slice`."""
    also: tuple[SliceFinding, ...]
    """Slices that stand out and are not named as the cause."""
    condition: ConditionFinding | None
    """None where the period, or what the slices leave of it, needs no explanation."""
    rest_n: int
    rest_hits: int
    """Units and hits left after taking out the slices that were found."""
    reasons: tuple[tuple[str, Mapping[str, float | int | str]], ...]
    """Codes with their facts, in the order in which the rule came to them."""
