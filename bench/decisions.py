"""What it costs to come from what is noticed to a decision.

    python bench/decisions.py [--json] [--folder FOLDER] [--parts signals schedule …]

*signals*: 100,000 raw signals of 25 sensors that watch four slices each, given in rounds: how many a second are
merged, deduplicated, told and committed, and how many alerts and messages come out. One in three repeats a signal of
its round. The raw side does the least there is: it counts each signal in a dictionary of slices and a set of keys, and
commits a row of JSON for each slice that it touched, once a round. The sides take turns. *flatness* is the
processor time of a round in the last quarter over that of one in the second, when the half hour of keys that are
remembered is full, medians: what a signal costs must not grow with the history.

*race*: on each of 1,000 cards one person says yes and another no at the same moment, on each store that answers: how
many cards had exactly one decision and a loser who was told who won.

*cards*: what listing the next ten, deciding one and a sweep of deadlines take with 10 and with 10,000 open cards, and
how many times the one is of the other.

*schedule*: a simulated year of 1,000 cron sensors in six time zones, with every rule for changes of clocks, over a real
ledger: servers look every 30 s, die in the middle of a turn, are away for hours and look two at a time. What was due is
worked out beforehand; *missed* and *doubled* compare that with the executions in the ledger, *drift_max_s* is how late
the latest was while a server watched, *us* what one of them takes.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import decisions_cards
import decisions_race
import decisions_schedule
import decisions_signals
from rig import parser, show

PARTS: Mapping[str, Callable[[argparse.Namespace], Awaitable[dict[str, Any]]]] = {
    "signals": decisions_signals.measure,
    "race": decisions_race.measure,
    "cards": decisions_cards.measure,
    "schedule": decisions_schedule.measure,
}
"""Part → what measures it; each lies in a file of its own."""


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the parts that were asked for, one after the other."""
    return {name: await PARTS[name](arguments) for name in arguments.parts}


def lines(found: Mapping[str, Any]) -> list[str]:
    told: list[str] = []
    for name, part in found.items():
        if isinstance(part, Mapping):
            told += [name, *(f"  {key}: {value}" for key, value in part.items())]
    return told


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    decisions_signals.add_arguments(made)
    decisions_race.add_arguments(made)
    decisions_cards.add_arguments(made)
    decisions_schedule.add_arguments(made)
    arguments = made.parse_args()
    show({"bench": "decisions", **asyncio.run(measure(arguments))}, lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
