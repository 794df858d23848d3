"""Every number of the rule by which a value is explained, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What is asked of the statistics before something is said; a plan may ask for other numbers."""

    alpha: float = 0.05
    """Error rate of each family of tests, after Holm's correction."""
    strong_alpha: float = 0.01
    """Adjusted p-value that high confidence needs."""
    level: float = 0.9
    """How often intervals are meant to hold."""
    min_history: int = 14
    """Earlier periods with a value without which nothing is judged: two weeks of days."""
    long_history: int = 28
    """Earlier periods that high confidence needs: four weeks of days."""
    unusual: float = 3.0
    """Distance from the usual, in robust standard deviations, from which a value is unusual."""
    very_unusual: float = 6.0
    """Distance that high confidence needs: twice as far."""
    plainly_usual: float = 2.0
    """Distance up to which a value is plainly usual."""
    min_units: int = 20
    """Rows that a slice must rest on, now and in each earlier period that is counted."""
    part_of_change: float = 0.1
    """Part of the change from which a slice can be one of its causes."""
    most_causes: int = 3
    """A cause of more slices than this is no slice."""
    most_rows: float = 0.5
    """Part of the rows that slices named as the cause may hold; more than half of the whole is no slice of it."""
    covers: float = 0.5
    """Part of the change that the slices named as its cause must make up."""
    covers_well: float = 0.8
    """The part that high confidence needs."""
    mix: float = 0.5
    """Part of the change from which its mix, and not its slices, is what changed."""
    seen_in_both: float = 0.8
    """Part of the rows that must lie in slices seen before and now, or rate and mix cannot be told apart."""
    correlated: float = 0.3
    """Size of a rank correlation from which two metrics go together; Cohen's medium effect."""
    well_correlated: float = 0.5
    """Cohen's large effect."""
    driver_tail: float = 0.2
    """Part of its earlier values that may be as far to the side which the correlation says, for it to be named."""
    strong_tail: float = 0.1
    """The part that high confidence allows."""
    min_pairs: int = 20
    """Pairs of values that a correlation needs."""
    most_missing: float = 0.2
    """Part of the earlier periods without a value from which nothing is judged."""
    few_missing: float = 0.05
    """Part of them that high confidence allows."""
    season_alpha: float = 0.01
    """p-value of the Kruskal–Wallis test from which weekdays, or hours, are compared with their own kind."""
    season_repeats: int = 4
    """Times that each weekday, or hour, must have been seen for that."""
    segment: int = 3
    """Shortest level between two change points; what is shorter is a spike and no level."""
    penalty: float = 3.0
    """Penalty for each change point, times the logarithm of the number of points, in variances of the noise; BIC: 2
    for a level and its place, and one more against heavy tails."""
    shuffles: int = 999
    """Permutations behind the p-value of a change point."""

    def for_label(self) -> Thresholds:
        """Return what a label is earned by: a plan may ask for more than is usual, and never for less.

        A label decides whether a person is asked, and whoever writes the arguments of a call must not decide that.
        """
        usual = Thresholds()
        return replace(
            self,
            strong_alpha=min(self.strong_alpha, usual.strong_alpha),
            long_history=max(self.long_history, usual.long_history),
            few_missing=min(self.few_missing, usual.few_missing),
            very_unusual=max(self.very_unusual, usual.very_unusual),
            plainly_usual=min(self.plainly_usual, usual.plainly_usual),
            covers_well=max(self.covers_well, usual.covers_well),
            well_correlated=max(self.well_correlated, usual.well_correlated),
            strong_tail=min(self.strong_tail, usual.strong_tail),
        )
