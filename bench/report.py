"""Runs every bench in a process of its own and writes what it found, the machine and the method into one page.

python bench/report.py [--write docs/performance.md] [--quick] [--only BENCH …] [--results FOLDER]

With `--only`, the other parts of a page that is there stay as they are; each part says when it was measured, where,
and beside what other work.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from report_decisions import decisions
from report_tables import HELD, asked, at_least, table
from rig import ROOT, machine

BENCHES = ("durable_step", "fan_out", "many_executions", "resume", "bus", "sse", "tree", "cluster",
           "large_organisation", "react", "context", "routing", "decisions", "cold_start")  # fmt: skip
QUICK: Mapping[str, Sequence[str]] = {
    "durable_step": ("--steps", "200", "--repeat", "1"),
    "fan_out": ("--branches", "200", "--repeat", "1"),
    "many_executions": ("--executions", "20", "--steps", "5", "--commit-ms", "1"),
    "resume": ("--steps", "100", "200", "--repeat", "1"),
    "bus": ("--events", "200"),
    "sse": ("--readers", "10", "--events", "50", "--steps", "50"),
    "cluster": ("--orders", "50", "--queues", "20", "100", "--repeat", "1"),
    "tree": ("--runs", "3"),
    "large_organisation": ("--employees", "200", "--skills", "10", "--runs", "1"),
    "react": ("--tools", "100", "--repeat", "20"),
    "context": ("--lengths", "30", "--stored", "100", "--repeat", "3"),
    "routing": ("--set", "test"),
    "decisions": (
        "--signals",
        "2000",
        "--rounds",
        "20",
        "--pairs",
        "20",
        "--cards",
        "100",
        "--stores",
        "sqlite",
        "--sensors",
        "50",
        "--days",
        "30",
    ),
    "cold_start": ("--repeat", "1"),
}
INTRODUCTION = """\
# Performance

What the product costs, measured against the raw limit of the same machine in the same run. This page is written by
`make bench`; change the benches in `bench/`, not the page.

Read the ratios. Times depend on the machine and on what else it does; the sides that are compared take turns, so that a
busy machine slows both. Ratios still differ between processors: a raw commit is nearly all the kernel's work, a step of
the engine nearly all the interpreter's, and one that took 47 raw commits here took 27 on another. The benches look for
garbage as rarely as the program does (`runtime/garbage.py`). What must hold exactly (commits, fsyncs, bytes, steps that
run again) is not measured here but tested: `tests/runtime/ledger`, `tests/runtime/engine`.
"""


def run(name: str, more: Sequence[str]) -> dict[str, Any]:
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, str(ROOT / "bench" / f"{name}.py"), "--json", *more]
    done = subprocess.run(
        command, cwd=ROOT, env={**kept, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name} ended with {done.returncode}:\n{done.stderr[-2_000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def method(name: str) -> str:
    """Return what a bench says about itself, without the command."""
    told = ast.get_docstring(ast.parse((ROOT / "bench" / f"{name}.py").read_text())) or ""
    parts = [part for part in told.split("\n\n") if not part.startswith("    ")]
    return "\n\n".join(parts)


def durable_step(found: Mapping[str, Any]) -> str:
    rows = [
        (place["on"], one["kind"], f"{one['steps']:,}", one["step_us"], one["raw_commit_us"], one["ratio"],
         one["flatness"])
        for place in found["places"]
        for one in place["found"]
    ]  # fmt: skip
    return table(("on", "step of the", "steps", "µs a step", "µs a raw commit", "ratio", "flatness"), rows)


def fan_out(found: Mapping[str, Any]) -> str:
    rows = [
        (place["on"], one["kind"], f"{one['branches']:,}", one["branch_us"], one["processor_us"],
         one["raw_commit_us"], one["ratio"], one["commits"])
        for place in found["places"]
        for one in place["found"]
    ]  # fmt: skip
    head = ("on", "branch of the", "branches", "µs a branch", "of processor", "µs a raw commit", "ratio", "commits")
    return table(head, rows)


def many_executions(found: Mapping[str, Any]) -> str:
    closed = [
        (one["store"], one["slower_ms"] or "no", one["raw_commit_ms"], one["executions"], one["lone_per_s"],
         one["together_per_s"], one["times"], one["processor_us"], one["lone_ms"], one["p99_ms"], one["p99_times"])
        for one in found["found"]
    ]  # fmt: skip
    arriving = [
        (one["store"], one["slower_ms"], one["executions"], one["arriving_per_s"], one["stored_per_s"],
         one["lone_ms"], one["arriving_median_ms"], one["arriving_p99_ms"], one["arriving_p99_times"])
        for one in found["found"]
        if "arriving_per_s" in one
    ]  # fmt: skip
    head = ("store", "slower by, ms", "raw commit, ms", "executions", "appends a second, alone", "together", "times",
            "µs of processor", "median alone, ms", "p99, ms", "p99 over the lone median")  # fmt: skip
    parts = ["In a closed loop:", table(head, closed)]
    if arriving:
        head = ("store", "slower by, ms", "executions", "appends a second, asked", "stored", "median alone, ms",
                "median, ms", "p99, ms", "p99 over the lone median")  # fmt: skip
        parts += ["Arriving, ten times as often as the lone one can:", table(head, arriving)]
    return "\n\n".join([*parts, *([found["skipped"]] if "skipped" in found else [])])


def resume(found: Mapping[str, Any]) -> str:
    rows = [
        (place["on"], f"{one['steps']:,}", one["call_ms"], one["process_ms"])
        for place in found["places"]
        for one in place["found"]
    ]
    return table(("on", "finished steps", "ms from the call", "ms from the start of the process"), rows)


def bus(found: Mapping[str, Any]) -> str:
    rows = [(name, rate, found["of_raw"].get(name, "")) for name, rate in found["per_s"].items()]
    return table((f"on {found['on']}", "events a second", "of raw XADD"), rows)


def sse(found: Mapping[str, Any]) -> str:
    told, slept = found["fan_out"], found["sleeping"]
    return table(
        ("what", "found"),
        [
            (f"events told to {told['readers']} readers, a second", told["told_per_s"]),
            ("the last reader has the last event after its commit, ms", told["last_reader_ms_after_commit"]),
            ("a step alone, µs", slept["step_us"]),
            ("a step beside a sleeping reader, µs", slept["beside_sleeper_us"]),
            ("ratio", slept["ratio"]),
        ],
    )


def cluster(found: Mapping[str, Any]) -> str:
    rows: list[tuple[str, Any]] = [
        *((f"an order with {queue} in line, µs", cost) for queue, cost in found["order_us"].items()),
        ("the longest queue against the shortest (asked: ≤ 1.2)", found["longest_of_shortest"]),
        ("raw commits that an order costs", found["of_raw"]),
        (f"{found['served']} orders through {found['slots']} slots, a second", found["served_per_s"]),
        ("until another process has the order, killed, s", found["recovery_killed_s"]),
        (
            f"until another process has the order, stopped, leases of {found['lease_s']:g} s, s",
            found["recovery_stopped_s"],
        ),
    ]
    return table(("what", "is"), rows)


def tree(found: Mapping[str, Any]) -> str:
    rows: list[tuple[Any, ...]] = []
    for one in found["found"]:
        on = one["engine"] if one["engine"] == "inline" else f"Ray, {one['hosts']} hosts"
        most = 45 if one["engine"] == "inline" else 1.5
        rows += [
            (f"{on}: a tree, ms", round(one["ours_us"] / 1000, 1), "", ""),
            (f"{on}: the bare tree, ms", round(one["bare_us"] / 1000, 2), "", ""),
            (f"{on}: times the bare tree", *asked(one["ratio"], most)),
        ]
        if one["engine"] == "inline":
            rows += [
                (f"{on}: times the processor time of the bare tree", one["processor_ratio"], "", ""),
                (f"{on}: the fastest run, times the fastest of the bare tree", one["best_ratio"], "", ""),
            ]
        if one["engine"] == "ray":
            rows += [
                ("first answer after `ray.init`, s", *asked(one["first_answer_s"], 2.5)),
                ("memory over Ray's own, MB", *asked(one["memory_mb"], 200)),
                ("a message, times a raw call", *asked(one["message_ratio"], 1.15)),
            ]
    return table(HELD, rows)


def large_organisation(found: Mapping[str, Any]) -> str:
    rows = [
        (f"{found['employees']:,} employees, {found['skills']} skills: load, s", *asked(found["load_s"], 5)),
        ("the whole process, s", found["process_s"], "", ""),
        ("of processor, s", found["cpu_s"], "", ""),
        ("memory, MiB", *asked(found["memory_mib"], 1024)),
    ]
    return table(HELD, rows)


def react(found: Mapping[str, Any]) -> str:
    one = found["parts"]["build"]
    rows: list[tuple[Any, ...]] = [
        (f"a request with {one['tools']:,} tools: the next of its step, ms", *asked(one["again_ms"], 5)),
        ("the first of another step, ms", *asked(one["next_step_ms"], 5)),
        ("told in words to an endpoint without tools, ms", one["in_words_ms"], "", ""),
        ("the very first, which works everything out, ms", one["first_ms"], "", ""),
    ]
    loop = found["parts"]["loop"]
    for way, told in (("stream", "in parts"), ("whole", "at once")):
        taken = loop[way]
        rows += [
            (
                f"a request of a step of {loop['calls']} calls, answered {told}: the bare client, ms",
                taken["bare_ms"],
                "",
                "",
            ),
            (f"answered {told}: added, ms", *asked(taken["added_ms"], 1)),
            (f"answered {told}: added, durable on {loop['on']}, ms", *asked(taken["added_durable_ms"], 2)),
        ]
    return table(HELD, rows)


def context(found: Mapping[str, Any]) -> str:
    told = [_bill(one) for one in found["processes"]]
    rows: list[tuple[Any, ...]] = []
    for one in found["processes"]:
        steps, bill, same = one["steps"], one["tokens"], one["prefix"]["engine"]
        facts, reach = one["needles"], one["needles"]["reachable"]
        rows += [
            (f"{steps} steps: share of the tokens saved against accumulated",
             *at_least(bill["fewer_than_accumulated"], 0.8 if steps >= 60 else 0.6)),
            (f"{steps} steps: the last step's prompt over the third's",
             *asked(bill["engine"]["last_over_third"], 1.3)),
            (f"{steps} steps: of {facts['facts']} facts in reach at the end", *at_least(reach["engine"], 1)),
            (f"{steps} steps: of these in the prompt", facts["in_prompt"]["engine"], "", ""),
            (f"{steps} steps: in reach where the conversation is trimmed", reach["trimmed"], "", ""),
            (f"{steps} steps: same beginning as the request before, mean", *at_least(same["mean"], 0.9)),
            (f"{steps} steps: same beginning, lowest", same["least"], "", ""),
        ]  # fmt: skip
    for one in found["cost"]:
        most = 5 if one["stored"] <= 100 else 10
        rows.append((f"{one['stored']:,} stored results: processor time of a step, ms", *asked(one["step_ms"], most)))
    return "\n\n".join([*told, table(HELD, rows)])


def _bill(one: Mapping[str, Any]) -> str:
    names = {
        "tokens": "tokens of all prompts", "third_step": "of the third step's largest",
        "last_step": "of the last step's",
        "largest": "of the largest", "current_share": "share that is present instruction and inputs",
        "current_share_at_last_step": "the same at the last step",
        "over_the_window_from_step": "over the window of 128,000 from step",
    }  # fmt: skip
    ways = [name for name, bill in one["tokens"].items() if isinstance(bill, dict)]
    rows = []
    for key, name in names.items():
        cells = ["" if cell is None else cell for cell in (one["tokens"][way][key] for way in ways)]
        rows.append((name, *(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells)))
    return table((f"{one['steps']} steps", *ways), rows)


def routing(found: Mapping[str, Any]) -> str:
    sides = [found[name] for name in ("words", "words_and_meaning") if name in found]
    groups = sides[0]["recall_at_5"]
    rows: list[tuple[Any, ...]] = [
        (f"recall@5, {group}" + (" (asked: ≥ 0.90)" if group == "test" else ""), sides[0]["queries"][group],
         *(side["recall_at_5"][group] for side in sides))
        for group in groups
    ]  # fmt: skip
    rows += [
        ("tokens of the prompt saved (asked: ≥ 0.70)", "", *(side["fewer"] for side in sides)),
        ("ms a query", "", *(side["query_ms"] for side in sides)),
        *(
            (f"times the model alone, {what}", "", *(side.get(f"{name}_ratio", "") for side in sides))
            for name, what in RATIOS.items()
        ),
    ]
    told = table(("what", "queries", "words alone", "words and meaning")[: 2 + len(sides)], rows)
    return "\n\n".join([told, *([found["skipped"]] if "skipped" in found else [])])


RATIOS = {
    "cold": "first query where nothing is kept",
    "cold_cpu": "the same in seconds of the processor",
    "warm": "first query of another process",
    "query": "a query",
}
"""What of choosing skills is measured beside the model called directly."""


STARTS = {"silicon --help": 300, "silicon run, to the first event": 1_000}
"""Asked of each, ms."""


def cold_start(found: Mapping[str, Any]) -> str:
    rows = [
        (one["what"], *(asked(one["ms"], STARTS[one["what"]]) if one["what"] in STARTS else (one["ms"], "", "")),
         one["raw_ms"], one["ratio"])
        for one in found["starts"]
    ]  # fmt: skip
    return table(("what", "ms", "asked", "met", "raw limit, ms", "ratio"), rows)


PARTS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "durable_step": ("One durable step", durable_step),
    "fan_out": ("Fan-out", fan_out),
    "many_executions": ("Many executions at once", many_executions),
    "resume": ("Going on after a kill", resume),
    "bus": ("The bus", bus),
    "sse": ("Readers of the event stream", sse),
    "tree": ("A tree of employees", tree),
    "cluster": ("The queue of the cluster", cluster),
    "large_organisation": ("A large organisation", large_organisation),
    "react": ("Reasoning with tools", react),
    "context": ("What a model is told in long processes", context),
    "routing": ("Choosing skills for a model", routing),
    "decisions": ("From signal to decision", decisions),
    "cold_start": ("Starts", cold_start),
}
"""Bench → its title on the page, and what makes its tables."""


def page(found: Mapping[str, Mapping[str, Any]], there: Mapping[str, str]) -> str:
    """Return the page: what was found, and the parts that are there of what was not measured now."""
    rows = [(name, value) for name, value in machine().items() if name != "load"]
    told = [INTRODUCTION, "## The machine\n", table(("what", "is"), rows)]
    for name, (title, tables) in PARTS.items():
        if name in found:
            told.append(f"\n## {title}\n\n{method(name)}\n\n{tables(found[name])}\n\n{found[name]['when']}")
        elif title in there:
            told.append(f"\n## {title}\n\n{there[title]}")
    return "\n".join(told) + "\n"


def parts_of(page: Path) -> dict[str, str]:
    """Return title → text of the parts of a page."""
    parts = page.read_text().split("\n## ")[1:] if page.exists() else ()
    return {title: text.strip() for title, _, text in (part.partition("\n") for part in parts)}


def when() -> str:
    """Return the line that says when and where something was measured."""
    about = machine()
    load, where = ", ".join(map(str, about["load"])), about["processor"]
    return f"Measured {datetime.now(UTC):%Y-%m-%d} on {where}; load averages over 1, 5 and 15 minutes: {load}."


def main() -> None:
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("--write", type=Path, help="where the page goes; without it, it is printed")
    made.add_argument("--quick", action="store_true", help="small numbers, to see that everything works")
    made.add_argument("--only", nargs="+", choices=BENCHES, default=BENCHES)
    made.add_argument("--results", type=Path, help="folder with results to take instead of measuring again; filled")
    arguments = made.parse_args()
    found = {}
    for name in arguments.only:
        kept = arguments.results / f"{name}.json" if arguments.results else None
        if kept and kept.exists():
            found[name] = json.loads(kept.read_text())
            continue
        print(f"measuring {name}", file=sys.stderr, flush=True)
        found[name] = {**run(name, QUICK[name] if arguments.quick else ()), "when": when()}
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(found[name]))
    text = page(found, parts_of(arguments.write) if arguments.write else {})
    if arguments.write:
        arguments.write.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
