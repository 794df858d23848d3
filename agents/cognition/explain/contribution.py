"""Contribution by dimension: which slices a change came from, and whether it is the slices at all that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.cognition.explain.measured import Measured, State, inconclusive
from agents.cognition.explain.series import Point, Slices, composition, valued, without
from agents.cognition.explain.thresholds import Thresholds
from agents.cognition.explain.usual import judge_usual
from agents.cognition.reason.exact import holm
from contracts import Json

METHOD = "difference of the slice from the rest, against its earlier differences (robust spread, Student's t, scipy)"


@dataclass(frozen=True, slots=True)
class Part:
    """One slice's part of the change; rate and mix of all slices add up to the change of the whole."""

    value: str
    before: float | None
    now: float | None
    n_before: float
    """Rows in a period of the reference, on average."""
    n: int
    rate: float
    """What the slice's own value changed, at its average weight."""
    mix: float
    """What its weight changed, at its average distance from the whole."""

    @property
    def contribution(self) -> float:
        """What of the change of the whole came from here."""
        return self.rate + self.mix


@dataclass(frozen=True, slots=True)
class Split:
    """The change of the whole, split by one dimension."""

    dimension: str
    state: State
    how: str | None = None
    """`mean` or `sum`: how the parts make up the whole."""
    why: str | None = None
    before: float | None = None
    """The whole in the reference, put together from the parts."""
    now: float | None = None
    parts: tuple[Part, ...] = ()
    """The largest contribution first."""
    rate: float = 0.0
    mix: float = 0.0
    reversed: bool = False
    """Simpson's paradox: the slices moved one way and the whole the other."""
    stands_out: tuple[Measured, ...] = field(default=())
    """Each slice that was tried, with its test; those that were found first."""

    @property
    def change(self) -> float:
        """What is split."""
        return self.rate + self.mix


def split(
    dimension: str, whole: Sequence[Point], slices: Slices, reference: Sequence[int], thresholds: Thresholds
) -> Split:
    """Split the change from the periods `reference` (places in `whole`) to the last one."""
    now = len(whole) - 1
    how = composition(whole[now], [points[now] for points in slices.values()])
    if whole[now].value is None:
        return Split(dimension, State.INCONCLUSIVE, why="no_value")
    if how is None:
        return Split(dimension, State.INCONCLUSIVE, why="parts_do_not_make_up_the_whole")
    places = [place for place in reference if whole[place].value is not None]
    if not places:
        return Split(dimension, State.INCONCLUSIVE, how, "history_too_short")
    parts = _parts(whole, slices, places, how)
    rate, mix = sum(part.rate for part in parts), sum(part.mix for part in parts)
    seen = sum(part.n for part in parts if part.before is not None and part.now is not None)
    if how == "mean" and seen < thresholds.seen_in_both * whole[now].n:
        return Split(dimension, State.INCONCLUSIVE, how, "slices_without_history", parts=tuple(parts))
    before = sum(part.before * part.n_before for part in parts if part.before is not None)
    rows = sum(part.n_before for part in parts if part.before is not None)
    return Split(
        dimension, State.FOUND, how, None,
        before / rows if how == "mean" else sum(part.before or 0.0 for part in parts), whole[now].value,
        tuple(sorted(parts, key=lambda part: (-abs(part.contribution), part.value))), rate, mix,
        how == "mean" and _is_reversed(parts, rate, mix, thresholds),
    )  # fmt: skip


def tested_slices(
    splits: Sequence[Split], whole: Sequence[Point], cut: Mapping[str, Slices], unit: str, thresholds: Thresholds
) -> list[Split]:
    """Return the splits with the test of each slice: does it differ from the rest more than it usually does?

    Slices of all dimensions are one family in Holm's correction. A slice that suffers first in every storm differs from
    the rest on such days too; whether it is a cause is not decided here.
    """
    tested = {each.dimension: _tests(each, whole, cut[each.dimension], unit, thresholds) for each in splits}
    family = [one for many in tested.values() for one in many if one.state is not State.INCONCLUSIVE]
    adjusted = dict(zip(map(id, family), holm([one.p or 1.0 for one in family], len(family)), strict=True))

    def judged(one: Measured) -> Measured:
        p = adjusted.get(id(one))
        if p is None:
            return one
        found = p < thresholds.alpha and one.state is State.FOUND
        return replace(one, p_adjusted=p, tried=len(family), state=State.FOUND if found else State.NOT_FOUND)

    return [
        replace(each, stands_out=tuple(sorted(map(judged, tested[each.dimension]), key=_found_first)))
        for each in splits
    ]


def causes_of(
    split_: Split, whole: Sequence[Point], slices: Slices, unit: str, thresholds: Thresholds
) -> tuple[list[Part], Measured | None]:
    """Return the slices without which the whole is as usual, and the test of that rest.

    They stand out, each makes up a part of the change, and they cover it together. An empty list: no slice is named.
    """
    if split_.state is not State.FOUND or split_.how is None or split_.change == 0:
        return [], None
    found = {one.facts["value"] for one in split_.stands_out if one.state is State.FOUND}
    wanted = [
        part
        for part in split_.parts
        if part.value in found and part.contribution / split_.change >= thresholds.part_of_change
    ]
    for count in range(1, min(len(wanted), thresholds.most_causes) + 1):
        named = wanted[:count]
        rest = [
            without(point, [slices[part.value][place] for part in named], split_.how)
            for place, point in enumerate(whole)
        ]
        left, _ = judge_usual(rest[-1], rest[:-1], unit, thresholds)
        covered = sum(part.contribution for part in named) / split_.change
        if sum(part.n for part in named) > thresholds.most_rows * whole[-1].n:
            break
        if left.state is State.NOT_FOUND and covered >= thresholds.covers:
            return named, left
    return [], None


def _parts(whole: Sequence[Point], slices: Slices, places: Sequence[int], how: str) -> list[Part]:
    now, parts = len(whole) - 1, []
    rows_before = sum(whole[place].n for place in places)
    rows_now = whole[now].n
    told = {name: valued([points[place] for place in places]) for name, points in slices.items()}
    old = sum((p.value or 0.0) * p.n for many in told.values() for p in many)
    average = ((old / rows_before if rows_before else 0.0) + (whole[now].value or 0.0)) / 2
    for name, points in sorted(slices.items()):
        earlier, current = told[name], points[now].value
        rows = sum(point.n for point in earlier)
        if how == "sum":
            usual = sum(point.value or 0.0 for point in earlier) / len(places)
            parts.append(Part(name, usual, current, rows / len(places), points[now].n, (current or 0.0) - usual, 0.0))
            continue
        mean = sum((point.value or 0.0) * point.n for point in earlier) / rows if rows else None
        was, is_ = rows / rows_before if rows_before else 0.0, points[now].n / rows_now
        one, other = (mean if mean is not None else current), (current if current is not None else mean)
        if one is None or other is None:
            continue
        rate, mix = (was + is_) / 2 * (other - one), (is_ - was) * ((one + other) / 2 - average)
        parts.append(Part(name, mean, current, rows / len(places), points[now].n, rate, mix))
    return parts


def _is_reversed(parts: Sequence[Part], rate: float, mix: float, thresholds: Thresholds) -> bool:
    """Whether every slice of any weight moved against the whole."""
    change = rate + mix
    known = [part for part in parts if part.before is not None and part.now is not None]
    moved = [part.rate for part in known if part.n >= thresholds.min_units and part.rate != 0]
    return change != 0 and len(moved) > 1 and all(each * change < 0 for each in moved)


def _tests(split_: Split, whole: Sequence[Point], slices: Slices, unit: str, thresholds: Thresholds) -> list[Measured]:
    return [
        _test(split_, part, whole, slices[part.value], unit=unit, thresholds=thresholds)
        for part in split_.parts
        if split_.state is State.FOUND
    ]


def _test(
    split_: Split, part: Part, whole: Sequence[Point], points: Sequence[Point], *, unit: str, thresholds: Thresholds
) -> Measured:
    about = f"{split_.dimension} {part.value}"
    facts: dict[str, Json] = {"dimension": split_.dimension, "value": part.value, "contribution": part.contribution,
             "share": part.contribution / split_.change if split_.change else 0.0, "now": part.now,
             "before": part.before, "rate": part.rate, "mix": part.mix, "rows": part.n}  # fmt: skip
    if points[-1].n < thresholds.min_units:
        return inconclusive("contribution", about, METHOD, "too_few_rows", n=points[-1].n, **facts)
    apart = [
        _apart(all_, one, str(split_.how))
        for all_, one in zip(whole, points, strict=True)
        if one.n >= thresholds.min_units
    ]
    seen, _ = judge_usual(apart[-1], apart[:-1], unit, thresholds)
    return replace(seen, kind="contribution", about=about, method=METHOD, facts={**seen.facts, **facts})


def _apart(whole: Point, part: Point, how: str) -> Point:
    """Return how far a slice is from the rest: of means the difference, of sums its part of the whole."""
    if how == "sum":
        value = part.value / whole.value if part.value is not None and whole.value else None
    else:
        rest = without(whole, [part], how).value
        value = part.value - rest if part.value is not None and rest is not None else None
    return Point(part.period, value, part.n, part.over, part.season)


def _found_first(one: Measured) -> tuple[bool, float, str]:
    return (one.state is not State.FOUND, -abs(float(str(one.facts.get("contribution", 0.0)))), one.about)
