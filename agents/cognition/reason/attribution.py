"""Honest attribution: is an excess of some outcome due to a known condition, to one slice, or to nothing we can see?

The rule is generic. A period has units (flights, orders, parcels) counted in cells; each cell says how many units it
has, how many had the outcome, whether a condition (bad weather, an outage, a holiday) lay on it, and its keys.
The trap it avoids: some slices always suffer first, so they head every list without being the cause. A slice is
therefore compared with the rest of its own strata, at the odds that it usually has in such company.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agents.cognition.reason.confidence import confidence_of
from agents.cognition.reason.exact import Table, above_rate, compare, holm, odds_ratio
from agents.cognition.reason.verdict import (
    Attribution,
    ConditionFinding,
    Confidence,
    Design,
    History,
    SiteFinding,
    SliceFinding,
    Thresholds,
    Verdict,
)

Row = Mapping[str, object]
"""A cell: `n`, `hits`, `condition` ('present', 'absent' or 'unknown') and its keys."""

Reason = tuple[str, Mapping[str, float | int | str]]

DEFAULT = Thresholds()


def attribute(rows: Sequence[Row], history: History, design: Design, thresholds: Thresholds = DEFAULT) -> Attribution:
    """Judge one period. The order of the rows does not matter; the answer is the same for the same counts."""
    n, hits = _total(rows)
    if n < thresholds.min_units or history.periods < thresholds.min_history:
        return _inconclusive(n, hits, history, thresholds)
    found, last_fired, rest = _peel(rows, history, design, thresholds)
    rest_n, rest_hits = _total(rest)
    unusual, rest_unusual = (_is_unusual(*c, history.usual_rate, thresholds) for c in ((n, hits), (rest_n, rest_hits)))
    condition = judge_condition(rest, history.usual_rate, design.condition_site, thresholds) if rest_unusual else None
    if found and not rest_unusual:
        verdict, causes, also = Verdict.SLICE, found, last_fired
    else:
        held = condition is not None and condition.holds
        verdict = Verdict.CONDITION if held else Verdict.NOT_EXPLAINED if rest_unusual else Verdict.NOTHING_UNUSUAL
        causes, also = (), found
    excess = hits - history.usual_rate * n
    short = all(periods < thresholds.slice_min_history for _, periods in history.usual_odds.values())
    return Attribution(
        verdict=verdict,
        confidence=confidence_of(
            verdict,
            causes=causes,
            also=also,
            condition=condition,
            excess=excess,
            usual_rate=history.usual_rate,
            slices_short=short,
            thresholds=thresholds.for_label(),
        ),
        n=n,
        hits=hits,
        usual_rate=round(history.usual_rate, 6),
        excess=round(excess, 3),
        unusual=unusual,
        causes=causes,
        also=also,
        condition=condition,
        rest_n=rest_n,
        rest_hits=rest_hits,
        reasons=_reasons(
            unusual=unusual,
            rest_unusual=rest_unusual,
            excess=excess,
            found=found,
            condition=condition,
            short=short,
        ),
    )


def find_slices(rows: Sequence[Row], history: History, design: Design, thresholds: Thresholds) -> list[SliceFinding]:
    """Return the slices that stand out, the one with most unexpected hits first.

    Ties go to the earlier dimension of the design, then to the smaller value. All slices large enough and with enough
    history count as tried in Holm's correction, also those that have too few hits or too small an effect to go on.
    """
    candidates: list[tuple[float, int, str, SliceFinding]] = []
    tried = 0
    for place, (dimension, strata) in enumerate(design.slices.items()):
        for value, tables in sorted(_tables(rows, dimension, strata).items()):
            n, hits = sum(t.group_n for t in tables), sum(t.group_hits for t in tables)
            usual, periods = history.usual_odds.get((dimension, value), (0.0, 0))
            if n < thresholds.slice_min_units or periods < thresholds.slice_min_history:
                continue
            tried += 1
            told = [t for t in tables if t.informative]
            if hits < thresholds.slice_min_hits or odds_ratio(told) < thresholds.slice_min_effect * usual:
                continue
            share = _share_present([r for r in rows if r[dimension] == value])
            seen = compare(told, usual)
            finding = SliceFinding(
                dimension, value, n, hits, round(seen.expected, 3), round(seen.odds, 3), round(usual, 3),
                round(seen.odds / usual, 3), seen.p, 1.0, round(share, 3),
            )  # fmt: skip
            candidates.append((-seen.excess, place, value, finding))
    adjusted = holm([finding.p for *_, finding in candidates], tried)
    fired = [
        (order, place, value, replace(finding, p_adjusted=p))
        for (order, place, value, finding), p in zip(candidates, adjusted, strict=True)
        if p < thresholds.alpha
        and -order >= thresholds.slice_min_excess
        and not (finding.dimension == design.condition_site and finding.condition_share >= thresholds.condition_share)
    ]
    return [finding for *_, finding in sorted(fired, key=lambda c: c[:3])]


def judge_condition(rows: Sequence[Row], usual: float, site: str, thresholds: Thresholds) -> ConditionFinding:
    """Say how much of the excess lies under the condition, and whether units outside it fared better."""
    n, hits = _total(rows)
    under, outside = ([r for r in rows if r["condition"] == state] for state in ("present", "absent"))
    (under_n, under_hits), (outside_n, outside_hits) = _total(under), _total(outside)
    share = (under_hits - usual * under_n) / (hits - usual * n)
    p = above_rate(under_hits, under_n, usual)
    contrast = compare(list(_contrast(under, outside, site)), 1.0)
    expected_outside = contrast.all_hits - contrast.expected
    compared = expected_outside >= thresholds.contrast_min_expected
    holds = share >= thresholds.condition_share and p < thresholds.alpha and (not compared or contrast.odds > 1.0)
    counts = sorted((name, *_total([r for r in under if r[site] == name])) for name in {str(r[site]) for r in under})
    adjusted = holm([above_rate(x, m, usual) for _, m, x in counts], len(counts))
    return ConditionFinding(
        share=round(share, 3),
        n=under_n,
        hits=under_hits,
        p=p,
        contrast_n=outside_n,
        contrast_hits=outside_hits,
        contrast_expected=round(expected_outside, 3),
        contrast_odds=round(contrast.odds, 3),
        contrast_p=contrast.p,
        unknown_hits=hits - under_hits - outside_hits,
        sites=tuple(
            SiteFinding(name, m, x, q) for (name, m, x), q in zip(counts, adjusted, strict=True) if q < thresholds.alpha
        ),
        holds=holds,
    )


def _peel(
    rows: Sequence[Row], history: History, design: Design, thresholds: Thresholds
) -> tuple[tuple[SliceFinding, ...], tuple[SliceFinding, ...], Sequence[Row]]:
    """Take out one slice after the other until the rest is as usual.

    Returns the slices taken, those that still stand out in the rest, and the rest.
    """
    taken: list[SliceFinding] = []
    rest = rows
    while True:
        fired = find_slices(rest, history, design, thresholds)
        enough = bool(taken) and not _is_unusual(*_total(rest), history.usual_rate, thresholds)
        if enough or not fired or len(taken) == thresholds.max_slices:
            return tuple(taken), tuple(fired), rest
        lead = fired[0]
        taken.append(lead)
        rest = [r for r in rest if r[lead.dimension] != lead.value]


def _is_unusual(n: int, hits: int, usual: float, thresholds: Thresholds) -> bool:
    return hits - usual * n >= thresholds.min_excess and above_rate(hits, n, usual) < thresholds.alpha


def _count(row: Row, key: str) -> int:
    value = row[key]
    if not isinstance(value, int):
        raise ValueError(f"`{key}` of a cell must be a whole number, not {value!r}")
    return value


def _total(rows: Sequence[Row]) -> tuple[int, int]:
    return sum(_count(r, "n") for r in rows), sum(_count(r, "hits") for r in rows)


def _share_present(rows: Sequence[Row]) -> float:
    return _total([r for r in rows if r["condition"] == "present"])[1] / max(1, _total(rows)[1])


def _tables(rows: Sequence[Row], dimension: str, strata: Sequence[str]) -> dict[str, list[Table]]:
    """Return, for each value of the dimension, one table per stratum in which it occurs, in order of the strata."""
    whole: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    part: dict[str, dict[tuple[str, ...], list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for row in rows:
        stratum = tuple(str(row[key]) for key in strata)
        for counts in (whole[stratum], part[str(row[dimension])][stratum]):
            counts[0] += _count(row, "n")
            counts[1] += _count(row, "hits")
    return {value: [Table(*whole[s], *own[s]) for s in sorted(own)] for value, own in part.items()}


def _contrast(under: Sequence[Row], outside: Sequence[Row], site: str) -> list[Table]:
    tables = []
    for name in sorted({str(r[site]) for r in under} & {str(r[site]) for r in outside}):
        group_n, group_hits = _total([r for r in under if r[site] == name])
        other_n, other_hits = _total([r for r in outside if r[site] == name])
        tables.append(Table(group_n + other_n, group_hits + other_hits, group_n, group_hits))
    return tables


def _inconclusive(n: int, hits: int, history: History, thresholds: Thresholds) -> Attribution:
    code = "too_few_units" if n < thresholds.min_units else "history_too_short"
    facts = {"n": n, "periods": history.periods}
    return Attribution(
        verdict=Verdict.INCONCLUSIVE,
        confidence=Confidence.LOW,
        n=n,
        hits=hits,
        usual_rate=round(history.usual_rate, 6),
        excess=round(hits - history.usual_rate * n, 3),
        unusual=False,
        causes=(),
        also=(),
        condition=None,
        rest_n=n,
        rest_hits=hits,
        reasons=((code, facts),),
    )


def _reasons(
    *,
    unusual: bool,
    rest_unusual: bool,
    excess: float,
    found: Sequence[SliceFinding],
    condition: ConditionFinding | None,
    short: bool,
) -> tuple[Reason, ...]:
    reasons: list[Reason] = [("above_usual" if unusual else "as_usual", {"excess": round(excess, 3)})]
    reasons += [("slice_stands_out", {"dimension": s.dimension, "value": s.value, "effect": s.effect}) for s in found]
    if found:
        reasons.append(("rest_above_usual" if rest_unusual else "rest_as_usual", {}))
    if condition is not None:
        reasons.append(
            ("condition_covers" if condition.holds else "condition_does_not_cover", {"share": condition.share})
        )
    if short:
        reasons.append(("slices_without_history", {}))
    return tuple(reasons)
