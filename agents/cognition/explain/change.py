"""Period over period: how much a value moved, and how much of that the usual moves explain."""

from __future__ import annotations

from collections.abc import Sequence

from agents.cognition.explain.measured import Measured, State, inconclusive
from agents.cognition.explain.series import Point
from agents.cognition.explain.thresholds import Thresholds
from agents.cognition.explain.usual import ROUNDING, usual_of

METHOD = "difference, against earlier differences of the same lag (robust spread, Student's t, scipy)"


def change_since(points: Sequence[Point], lag: int, unit: str, thresholds: Thresholds) -> Measured:
    """Return how the last period differs from the one `lag` periods before it.

    The interval is what of the change is beyond the moves that such a lag usually brings. A gap on either side is no
    change: it is inconclusive.
    """
    from scipy.stats import t

    now, before = points[-1], points[-1 - lag] if len(points) > lag else None
    about = f"{before.period if before else 'before'}..{now.period}"
    if before is None or before.value is None or now.value is None:
        return inconclusive("change", about, METHOD, "no_value", lag=lag)
    moves = usual_of(_moves(points[:-1], lag), 0, thresholds)
    effect = now.value - before.value
    facts = {"lag": lag, "from": before.value, "to": now.value, "n_from": before.n, "n_to": now.n}
    if before.value:
        facts["relative"] = effect / before.value
    rounding = ROUNDING * max(abs(before.value), abs(now.value))
    if moves is None or moves.n < thresholds.min_history or moves.spread <= rounding:
        why = "constant" if moves is not None and moves.n >= thresholds.min_history else "history_too_short"
        n = moves.n if moves else 0
        return Measured("change", about, State.INCONCLUSIVE, METHOD, effect, unit, n=n, why=why, facts=facts)
    error = moves.spread * (1 + 1 / moves.n) ** 0.5
    half = float(t.ppf((1 + thresholds.level) / 2, moves.n - 1)) * error
    p = float(2 * t.sf(abs(effect) / error, moves.n - 1))
    found = p < thresholds.alpha and abs(effect) >= thresholds.unusual * moves.spread
    return Measured(
        "change", about, State.FOUND if found else State.NOT_FOUND, METHOD, effect, unit,
        effect - half, effect + half, thresholds.level, moves.n, p, p, facts=facts,
    )  # fmt: skip


def _moves(points: Sequence[Point], lag: int) -> list[Point]:
    """Return the earlier changes over the same lag; one with a gap on a side is a gap."""
    pairs = zip(points, points[lag:], strict=False)
    return [
        Point(b.period, None if a.value is None or b.value is None else b.value - a.value, min(a.n, b.n))
        for a, b in pairs
    ]
