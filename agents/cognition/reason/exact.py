"""Exact tests on counts, stratified where the comparison needs it. All distributions come from scipy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

P_FLOOR = 1e-12
"""Smaller p-values are reported as this; the library's point probabilities are not accurate below it."""


@dataclass(frozen=True, slots=True)
class Table:
    """One stratum of a comparison of a group with everyone else in the stratum."""

    n: int
    """All units of the stratum."""
    hits: int
    """Units of the stratum with the outcome."""
    group_n: int
    """Units of the group."""
    group_hits: int
    """Units of the group with the outcome."""

    @property
    def informative(self) -> bool:
        """Whether the stratum can say anything: both groups are present and not all units ended alike."""
        return 0 < self.group_n < self.n and 0 < self.hits < self.n


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many more hits a group has than a stated odds ratio would give it."""

    all_hits: int
    """Hits of everyone in the informative strata."""
    hits: int
    expected: float
    odds: float
    p: float

    @property
    def excess(self) -> float:
        """Hits above those expected."""
        return self.hits - self.expected


def odds_ratio(tables: Sequence[Table]) -> float:
    """Return the Mantel–Haenszel common odds ratio with one half added above and below.

    Source: Mantel and Haenszel (1959). The halves keep the ratio finite and pull it towards 1 where little is known.
    """
    above = sum(t.group_hits * (t.n - t.group_n - t.hits + t.group_hits) / t.n for t in tables)
    below = sum((t.hits - t.group_hits) * (t.group_n - t.group_hits) / t.n for t in tables)
    return (above + 0.5) / (below + 0.5)


def compare(tables: Sequence[Table], null_odds: float) -> Comparison:
    """Test whether the group's common odds ratio is above `null_odds`, given the totals of each stratum.

    The hits of the group in one stratum follow Fisher's noncentral hypergeometric distribution; their sum over the
    strata is the convolution. Source: the exact conditional test of a common odds ratio, Gart (1970); with
    `null_odds` = 1 it is the exact form of the Cochran–Mantel–Haenszel test. One-sided.
    """
    import numpy as np
    from scipy.stats import nchypergeom_fisher

    told = [t for t in tables if t.informative]
    hits, lowest, chances = sum(t.group_hits for t in told), 0, np.ones(1)
    for t in told:
        low, high = max(0, t.group_n + t.hits - t.n), min(t.group_n, t.hits)
        point = nchypergeom_fisher.pmf(np.arange(low, high + 1), t.n, t.group_n, t.hits, null_odds)
        chances, lowest = np.convolve(chances, point), lowest + low
    chances = chances / chances.sum()
    expected = lowest + float(np.dot(np.arange(len(chances)), chances))
    return Comparison(
        sum(t.hits for t in told),
        hits,
        expected,
        odds_ratio(told),
        floored(float(chances[max(0, hits - lowest) :].sum())),
    )


def above_rate(hits: int, n: int, rate: float) -> float:
    """Return the exact one-sided binomial p-value of at least `hits` in `n` at `rate`; 1 where nothing was counted."""
    from scipy.stats import binomtest

    return floored(float(binomtest(hits, n, rate, alternative="greater").pvalue)) if n else 1.0


def holm(p_values: Sequence[float], tried: int) -> list[float]:
    """Return Holm's adjusted p-values, counting tests that were tried but not carried through as p = 1.

    Source: Holm (1979): the i-th smallest p-value is multiplied by `tried - i + 1`, and the results may not fall.
    """
    adjusted, highest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: (p_values[i], i))):
        highest = max(highest, min(1.0, p_values[index] * (tried - rank)))
        adjusted[index] = highest
    return adjusted


def floored(p: float) -> float:
    """Return a p-value within `P_FLOOR` and 1, where sums of rounded chances may have left it."""
    return min(1.0, max(P_FLOOR, p))
