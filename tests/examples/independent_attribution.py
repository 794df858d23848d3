"""The rule of examples/three_airports/ATTRIBUTION.md, computed a second time straight from the CSV files.

Written from that page alone. It shares no code with the product: pandas instead of SQL, statsmodels for Holm's
correction, binomial tails and polynomial products instead of the product's test functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.polynomial import polynomial
from scipy import stats

STRATA = {"carrier": ["origin", "hour"], "origin": ["hour"], "dest": ["origin", "hour"]}


@dataclass
class Answer:
    """One day's answer, in the words of ATTRIBUTION.md."""

    verdict: str
    confidence: str
    n: int
    hits: int
    excess: float
    causes: list[tuple[str, str]]
    also: list[tuple[str, str]]
    rest: tuple[int, int]
    share: float | None
    sites: list[str]
    p_adjusted: list[float]
    effects: list[float]


def read(source: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return flights with `x` = cancelled, and the airport hours on which bad weather lies or was read at all."""
    f = pd.read_csv(
        source / "flights.csv.zip", usecols=["year", "month", "day", "hour", "dep_time", "carrier", "origin", "dest"]
    )
    f["date"] = pd.to_datetime(f[["year", "month", "day"]])
    f["x"] = f.dep_time.isna().astype(int)
    f["clock"] = f.date + pd.to_timedelta(f.hour, unit="h")
    w = pd.read_csv(source / "weather.csv")
    w["clock"] = pd.to_datetime(w[["year", "month", "day", "hour"]])
    wind, gust = w.wind_speed.where(w.wind_speed <= 253), w.wind_gust.where(w.wind_gust <= 253)
    w["bad"] = (w.visib < 3) | (gust >= 39) | (wind >= 25) | (w.precip >= 0.10) | ((w.precip > 0) & (w.temp <= 32))
    return f, w


def conditions(f: pd.DataFrame, w: pd.DataFrame) -> pd.Series:
    """Return for each flight whether bad weather lay on it, at its day's end.

    Only readings of the flight's own day or earlier are known then.
    """
    first = pd.Timestamp(2013, 1, 1)
    flight_hour, reading_hour = ((clock - first) // pd.Timedelta(hours=1) for clock in (f.clock, w.clock))
    day_end = (f.date - first) // pd.Timedelta(hours=1) + 24
    read_at = set(zip(w.origin, reading_hour, strict=True))
    bad_at = set(zip(w.origin[w.bad], reading_hour[w.bad], strict=True))
    state = {}
    for origin, hour, end in set(zip(f.origin, flight_hour, day_end, strict=True)):
        if any((origin, h) in bad_at for h in range(hour - 6, min(hour + 4, end))):
            state[origin, hour] = "present"
        else:
            state[origin, hour] = "absent" if (origin, hour) in read_at else "unknown"
    return pd.Series([state[key] for key in zip(f.origin, flight_hour, strict=True)], index=f.index)


def strata_of(day: pd.DataFrame, dimension: str, value: str) -> list[tuple[int, int, int, int]]:
    """Return (N, M, n, a) of each informative stratum."""
    keys = STRATA[dimension]
    mine = day[dimension] == value
    whole = day.groupby(keys).x.agg(["size", "sum"])
    own = day[mine].groupby(keys).x.agg(["size", "sum"])
    both = own.rename(columns={"size": "size_own", "sum": "sum_own"}).join(whole)
    both = both[(both["size"] > both.size_own) & (both["sum"] > 0) & (both["sum"] < both["size"])]
    return [(int(r["size"]), int(r["sum"]), int(r["size_own"]), int(r["sum_own"])) for _, r in both.iterrows()]


def mantel_haenszel(strata: list[tuple[int, int, int, int]]) -> float:
    up = sum(a * (N - n - M + a) / N for N, M, n, a in strata)
    down = sum((M - a) * (n - a) / N for N, M, n, a in strata)
    return (up + 0.5) / (down + 0.5)


def conditional(strata: list[tuple[int, int, int, int]], odds: float) -> tuple[float, float]:
    """Return the expected hits and the upper tail probability of the observed ones."""
    mass = np.array([1.0])
    for everyone, hits, mine, _ in strata:
        rv = stats.nchypergeom_fisher(everyone, mine, hits, odds)
        mass = polynomial.polymul(mass, rv.pmf(np.arange(0, min(mine, hits) + 1)))
    mass = np.pad(mass, (0, sum(min(mine, hits) for _, hits, mine, _ in strata) + 1 - len(mass)))
    mass /= mass.sum()
    seen = sum(a for *_, a in strata)
    return float((mass * np.arange(len(mass))).sum()), floor(mass[seen:].sum())


def floor(p: float) -> float:
    return float(np.clip(p, 1e-12, 1.0))


def tail(x: int, n: int, rate: float) -> float:
    return floor(stats.binom.sf(x - 1, n, rate)) if n else 1.0


def holm(p: list[float]) -> list[float]:
    """Adjust for how many were tried (Holm 1979): statsmodels does the same, and collects garbage each time."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(each) for each in adjusted]


def past_odds(f: pd.DataFrame) -> dict[tuple[str, str], pd.Series]:
    """Return each slice's odds ratio on every day with at least 10 cancellations, indexed by day."""
    f = f[f.groupby("date").x.transform("sum") >= 10]
    out = {}
    for dimension, keys in STRATA.items():
        own = (
            f.groupby(["date", *keys, dimension] if dimension not in keys else ["date", *keys])
            .x.agg(n="size", a="sum")
            .reset_index()
        )
        whole = f.groupby(["date", *keys]).x.agg(N="size", M="sum").reset_index()
        both = own.merge(whole, on=["date", *keys])
        both = both[both.M > 0]
        both["up"] = both.a * (both.N - both.n - both.M + both.a) / both.N
        both["down"] = (both.M - both.a) * (both.n - both.a) / both.N
        for value, group in both.groupby(dimension):
            days = group.groupby("date")[["n", "up", "down"]].sum()
            days = days[days.n >= 5]
            out[dimension, str(value)] = (days.up + 0.5) / (days.down + 0.5)
    return out


def stand_out(day: pd.DataFrame, usual: dict[tuple[str, str], tuple[float, int]]) -> list[dict[str, Any]]:
    tried = 0
    carried: list[dict[str, Any]] = []
    for rank, dimension in enumerate(STRATA):
        for value, group in day.groupby(dimension):
            upper, periods = usual.get((dimension, str(value)), (np.nan, 0))
            if len(group) < 20 or periods < 20:
                continue
            tried += 1
            if group.x.sum() < 10:
                continue
            strata = strata_of(day, dimension, str(value))
            effect = mantel_haenszel(strata) / upper
            if effect < 2:
                continue
            expected, p = conditional(strata, upper)
            seen = sum(a for *_, a in strata)
            under = round(float(group.x[group.condition == "present"].sum() / group.x.sum()), 3)
            carried.append(
                {
                    "key": (dimension, str(value)),
                    "rank": rank,
                    "excess": seen - expected,
                    "p": p,
                    "effect": effect,
                    "under": under,
                }
            )
    if not carried:
        return []
    adjusted = holm([c["p"] for c in carried] + [1.0] * (tried - len(carried)))
    for c, q in zip(carried, adjusted, strict=False):
        c["q"] = float(q)
    fired = [
        c for c in carried if c["q"] < 0.05 and c["excess"] >= 5 and not (c["key"][0] == "origin" and c["under"] >= 0.5)
    ]
    return sorted(fired, key=lambda c: (-c["excess"], c["rank"], c["key"][1]))


def unusual(day: pd.DataFrame, rate: float) -> bool:
    x, n = int(day.x.sum()), len(day)
    return bool(x - rate * n >= 20 and tail(x, n, rate) < 0.05)


def judge(day: pd.DataFrame, days_before: int, rate: float, usual: dict[tuple[str, str], tuple[float, int]]) -> Answer:
    n, x = len(day), int(day.x.sum())
    excess = x - rate * n
    if n < 30 or days_before < 14:
        return Answer("inconclusive", "low", n, x, excess, [], [], (n, x), None, [], [], [])
    rest = day
    taken: list[dict[str, Any]] = []
    while True:
        fired = stand_out(rest, usual)
        if (taken and not unusual(rest, rate)) or not fired or len(taken) == 3:
            break
        taken.append(fired[0])
        dimension, value = fired[0]["key"]
        rest = rest[rest[dimension] != value]
    odd = unusual(rest, rate)
    kept = (len(rest), int(rest.x.sum()))
    short = all(periods < 20 for _, periods in usual.values())
    if taken and not odd:
        strong = all(c["q"] < 0.01 and round(c["effect"], 3) >= 3 and c["under"] < 0.5 for c in taken)
        weak = any(c["under"] >= 0.5 and c["q"] >= 0.01 for c in taken)
        label = "low" if weak else "high" if strong else "medium"
        causes, also = [c["key"] for c in taken], [c["key"] for c in fired]
        return Answer("slice", label, n, x, excess, causes, also, kept, None, [],
                      [c["q"] for c in taken], [c["effect"] for c in taken])  # fmt: skip
    also = [c["key"] for c in taken]
    if not odd:
        return Answer(
            "nothing unusual", "high" if excess < 10 else "medium", n, x, excess, [], also, kept, None, [], [], []
        )

    under, out = rest[rest.condition == "present"], rest[rest.condition == "absent"]
    share = (under.x.sum() - rate * len(under)) / (rest.x.sum() - rate * len(rest))
    known = pd.concat([under, out])
    pairs = []
    for _, g in known.groupby("origin"):
        mine = g[g.condition == "present"]
        if 0 < len(mine) < len(g) and 0 < g.x.sum() < len(g):
            pairs.append((len(g), int(g.x.sum()), len(mine), int(mine.x.sum())))
    odds = mantel_haenszel(pairs)
    expected, p_contrast = conditional(pairs, 1.0)
    compared = sum(M for _, M, *_ in pairs) - expected >= 5
    names = sorted(under.origin.unique())
    p_sites = [tail(int(under.x[under.origin == o].sum()), int((under.origin == o).sum()), rate) for o in names]
    sites = [o for o, q in zip(names, holm(p_sites), strict=True) if q < 0.05] if names else []
    holds = share >= 0.5 and tail(int(under.x.sum()), len(under), rate) < 0.05 and (not compared or odds > 1)
    if holds:
        contrasted, flooded = round(odds, 3) >= 2 and p_contrast < 0.01, under.x.sum() >= 10 * rate * len(under)
        if not compared and not flooded:
            label = "low"
        elif round(share, 3) >= 0.8 and not also and (contrasted if compared else flooded):
            label = "high"
        else:
            label = "medium" if contrasted or flooded else "low"
        return Answer("condition", label, n, x, excess, [], also, kept, share, sites, [], [])
    unknown = int(rest.x[rest.condition == "unknown"].sum())
    blind = unknown >= 0.25 * int(rest.x.sum())
    label = "low" if short or blind else "high" if not also and round(share, 3) < 0.25 else "medium"
    return Answer("not explained", label, n, x, excess, [], also, kept, share, sites, [], [])


def whole_year(source: Path) -> dict[Any, Answer]:
    """Return the answer for each of the 365 days, judged at the day's end."""
    f, w = read(source)
    f["condition"] = conditions(f, w)
    rates = f.groupby("date").x.mean()
    odds = past_odds(f)
    grid = pd.DataFrame(odds).reindex(rates.index)
    upper, counted = grid.expanding().quantile(0.9).shift(1), grid.expanding().count().shift(1).fillna(0)
    medians = rates.expanding().median().shift(1).fillna(0.0)
    answers = {}
    for before, (date, day) in enumerate(f.groupby("date")):
        row = zip(grid.columns, upper.loc[date], counted.loc[date], strict=True)
        usual: dict[Any, tuple[float, int]] = {key: (float(u), int(periods)) for key, u, periods in row if periods}
        answers[date] = judge(day, before, float(medians[date]), usual)
    return answers
