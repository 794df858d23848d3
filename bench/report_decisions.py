"""What `decisions.py` measured, as tables: one for each part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from report_tables import HELD, asked, table


def decisions(found: Mapping[str, Any]) -> str:
    """Return a table for each part that was measured; each part's rows are its own function."""
    return "\n\n".join(DECISIONS[name](part) for name, part in found.items() if name in DECISIONS)


def signals(one: Mapping[str, Any]) -> str:
    rows = [
        (f"{one['signals']:,} raw signals in {one['rounds']} rounds on {one['on']}: a second", one["per_s"], "", ""),
        ("the raw side, a second", one["raw_per_s"], "", ""),
        ("times the raw side", one["ratio"], "", ""),
        ("alerts that come out", one["alerts"], "", ""),
        ("messages to people", one["messages"], "", ""),
        ("merged into alerts", one["merged"], "", ""),
        ("repeated only", one["duplicates"], "", ""),
        ("processor time of a late round over one before the middle", *asked(one["flatness"], 1.3)),
    ]
    return table(HELD, rows)


def race(one: Mapping[str, Any]) -> str:
    rows = [
        (f"{kind}: {one['pairs']:,} pairs of a yes and a no at once, one winner each", *_met(of, one["pairs"]))
        for kind, of in one.items()
        if isinstance(of, Mapping)
    ]
    return table(HELD, rows)


def _met(of: Mapping[str, Any], pairs: int) -> tuple[Any, ...]:
    return of["one_winner"], pairs, "yes" if of["one_winner"] == pairs else "**no**"


def cards(one: Mapping[str, Any]) -> str:
    rows = []
    for kind, of in one.items():
        if isinstance(of, Mapping):
            what = f"{kind}, with {one['cards']:,} open cards beside {one['beside']}"
            rows += [
                (f"{what}: {name}, times", *asked(of[f"{name}_times"], 2.0)) for name in ("list", "decide", "sweep")
            ]
    return table(HELD, rows)


def schedule(one: Mapping[str, Any]) -> str:
    """Return what a simulated time of cron sensors missed and doubled."""
    rows = [
        (f"{one['sensors']:,} cron sensors over {one['days']} days on {one['on']}: instants that were due", one["due"],
         "", ""),
        ("missed", *asked(one["missed"], 0)),
        ("doubled", *asked(one["doubled"], 0)),
        ("servers that died in the middle of a turn", one["deaths"], "", ""),
        ("times that nobody watched for hours", one["outages"], "", ""),
        ("latest while a server watched, s of simulated time", one["drift_max_s"], "", ""),
        ("µs an instant", one["us"], "", ""),
    ]  # fmt: skip
    return table(HELD, rows)


DECISIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "signals": signals, "race": race, "cards": cards, "schedule": schedule,
}  # fmt: skip
"""Part of `decisions` → its table."""
