"""What a model is told in long processes: tokens, what can still be found, and what putting it together costs.

    python bench/context.py [--json] [--parts tokens needles prefix cost] [--lengths 30 60] [--stored 100 10000]

Two processes of 30 and 60 steps lie in `bench/data`, made from a seed: each step calls one to three tools that give
tables, nested objects, documents and logs, 0.2 to 60 KB, in English and Chinese; later steps are given what earlier
ones found. A script stands for the model, so nothing is paid. The same process is carried out three ways. *engine*: a
`react` step each, in the real engine. *accumulated*: one conversation in which everything stays, as if its window had
no end. *trimmed*: the same with the newest exchanges only, twenty messages at most and within a window of 128,000
tokens. The plain ways are given less to say: no plan, no tools but those of the step, no input twice. Tokens are
counted with the tables of one tokenizer (`o200k`), messages and tools of every request. The last step works on as much
as the third; of both the largest request counts.

*tokens*: the prompts of all requests together, and how much of them is the present instruction and its inputs.

*needles*: 200 facts (ids, numbers, names, decisions, ways that were given up) stand in results, in what was noted and
in answers of earlier steps. Told is the share that the last step has in its first prompt, and that it can reach from
there: in the prompt, or in what one call of `search` gives, which the script really makes, for each fact by the id it
is about, in the data whose reference the prompt shows. A plain way has what stands in its prompt.

*prefix*: of two requests of one step that follow each other, how many characters of the first stand unchanged at the
beginning of the second, tools included: what a cache of the endpoint need not read again. The mean and the lowest.

*cost*: processor time of putting prompts together in a step that comes after 100 and 10,000 finished ones with a
stored result each: the beginning, which is looked at once, and its three requests. Nothing is sent, and a ledger takes
the events that keeps nothing. The middle of several steps.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from context_cost import cost
from context_needles import Searching, in_prompt, share
from context_process import LENGTHS, Process, written
from context_runs import WINDOW, Asked, Script, by_engine, plainly
from rig import folders, median, parser, show

WAYS = ("engine", "accumulated", "trimmed")


async def carry_out(process: Process, folder: Path) -> dict[str, Sequence[Asked]]:
    """Return the requests of each way."""
    ours = await by_engine(process, Script(process), folder)
    accumulated, trimmed = [await plainly(process, ours, trimmed=each) for each in (False, True)]
    return {"engine": ours, "accumulated": accumulated, "trimmed": trimmed}


def tokens_part(ways: Mapping[str, Sequence[Asked]]) -> dict[str, Any]:
    found: dict[str, Any] = {name: bill(asked) for name, asked in ways.items()}
    ours, plain, trimmed = (found[name]["tokens"] for name in WAYS)
    return {
        **found,
        "fewer_than_accumulated": round(1 - ours / plain, 3),
        "fewer_than_trimmed": round(1 - ours / trimmed, 3),
    }


def bill(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return what the requests of one way come to."""
    steps = list(dict.fromkeys(each.step for each in asked))
    largest = {step: max(each.tokens for each in asked if each.step == step) for step in steps}
    first = {step: next(each.tokens for each in asked if each.step == step) for step in steps}
    over = next((number for number, step in enumerate(steps, 1) if largest[step] > WINDOW), None)
    total = sum(each.tokens for each in asked)
    return {
        "requests": len(asked),
        "tokens": total,
        "third_step": largest[steps[2]],
        "last_step": largest[steps[-1]],
        "last_over_third": round(largest[steps[-1]] / largest[steps[2]], 3),
        "first_request_last_over_third": round(first[steps[-1]] / first[steps[2]], 3),
        "largest": max(largest.values()),
        "current_share": round(sum(each.current for each in asked) / total, 3),
        "current_share_at_last_step": round(_last(asked).current / _last(asked).tokens, 3),
        "over_the_window_from_step": over,
    }


def _last(asked: Sequence[Asked]) -> Asked:
    return next(each for each in asked if each.step == asked[-1].step)


async def needles_part(process: Process, ways: Mapping[str, Sequence[Asked]], folder: Path) -> dict[str, Any]:
    script = Searching(process)
    await by_engine(process, script, folder)
    prompts = {name: in_prompt(process.facts, _last(asked).shown) for name, asked in ways.items()}
    reachable = {**prompts, "engine": script.reached}
    return {
        "facts": len(process.facts),
        "in_prompt": {name: share(process.facts, found) for name, found in prompts.items()},
        "reachable": {name: share(process.facts, found) for name, found in reachable.items()},
        "by_channel": {name: _by(process, found, "channel") for name, found in reachable.items()},
        "by_kind": {name: _by(process, found, "kind") for name, found in reachable.items()},
    }


def _by(process: Process, found: set[str], what: str) -> dict[str, float]:
    groups = sorted({getattr(fact, what) for fact in process.facts})
    return {
        group: share([fact for fact in process.facts if getattr(fact, what) == group], found) for group in groups
    }  # fmt: skip


def prefix_part(asked: Sequence[Asked]) -> dict[str, Any]:
    shares = [
        _same(before.text, after.text) / len(before.text)
        for before, after in pairwise(asked)
        if before.step == after.step
    ]
    return {"pairs": len(shares), "mean": round(sum(shares) / len(shares), 4), "least": round(min(shares), 4),
            "median": round(median(shares), 4)}  # fmt: skip


def _same(first: str, second: str) -> int:
    """Return how many characters both begin with."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[:middle] == second[:middle] else (low, middle - 1)
    return low


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    folder, found = folders(arguments.folder)[0], dict[str, Any]()
    if set(arguments.parts) - {"cost"}:
        for length in arguments.lengths:
            process = written(length)
            ways = await carry_out(process, folder)
            parts: dict[str, Any] = {"steps": length}
            if "tokens" in arguments.parts:
                parts["tokens"] = tokens_part(ways)
            if "needles" in arguments.parts:
                parts["needles"] = await needles_part(process, ways, folder)
            if "prefix" in arguments.parts:
                parts["prefix"] = {name: prefix_part(asked) for name, asked in ways.items()}
            found.setdefault("processes", []).append(parts)
    if "cost" in arguments.parts:
        found["cost"] = [await cost(stored, repeat=arguments.repeat) for stored in arguments.stored]
    return found


def lines(found: Mapping[str, Any]) -> list[str]:
    told: list[str] = []
    for one in (*found.get("processes", ()), *found.get("cost", ())):
        told += _tree(one, 0)
    return told


def _tree(one: Mapping[str, Any], depth: int) -> list[str]:
    told = []
    for name, value in one.items():
        if isinstance(value, Mapping):
            told += [f"{'  ' * depth}{name}", *_tree(value, depth + 1)]
        else:
            told.append(f"{'  ' * depth}{name}: {value}")
    return told


PARTS: Mapping[str, Callable[..., Any]] = {
    "tokens": tokens_part, "needles": needles_part, "prefix": prefix_part, "cost": cost
}  # fmt: skip


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    made.add_argument("--lengths", nargs="+", type=int, choices=LENGTHS, default=list(LENGTHS), help="steps")
    made.add_argument("--stored", nargs="+", type=int, default=[100, 10_000], help="finished steps of `cost`")
    made.add_argument("--repeat", type=int, default=20, help="steps of which `cost` takes the middle")
    arguments = made.parse_args()
    show({"bench": "context", **asyncio.run(measure(arguments))}, lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
