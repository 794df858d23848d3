"""An organisation of 5,000 employees: how long it takes to load and check, and what it holds while it idles.

    python bench/large_organisation.py [--json] [--employees 5000] [--skills 100] [--runs 3]

The folder is made anew: five levels of employees, each with a title and something they can do, and skills of six steps
that employees of the third level have their people do. A fresh process loads it as every command does, which reads and
checks all of it, and then seats everybody, wires the workforce and idles. *load* counts from the call to the
organisation, *process* from the start of the process until it idles, imports included, and *processor* how much of that
it computed; *memory* is all that the process holds then (resident set size).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rig import ROOT, folders, median, parser, show

WIDE = 10
"""Employees whom one of the first four levels manages, as long as there are any left."""
LEVELS = 5
_ORG = """\
name: large
title: A large organisation
time_zone: UTC
language: en
budget: {seconds: 900, steps: 1000000}
people:
  - {id: owner, name: The owner, roles: [approver, admin, operator], groups: [owners], login: any}
approvals:
  default: {mode: strict, who: [owners], within: 24h}
head:
"""


@dataclass(eq=False)
class Node:
    """One employee of the folder to be made."""

    name: str
    below: list[Node] = field(default_factory=list)
    skills: list[str] = field(default_factory=list)

    def lines(self, indent: str = "  ") -> Iterator[str]:
        """Yield the employee as it stands in `org.yaml`."""
        yield f"{indent}id: {self.name}"
        yield f"{indent}title: Employee {self.name}"
        yield f"{indent}can: [python]"
        if self.skills:
            yield f"{indent}skills: [{', '.join(self.skills)}]"
        if self.below:
            yield f"{indent}manages:"
        for one in self.below:
            first, *rest = one.lines(f"{indent}    ")
            yield f"{indent}  - {first.strip()}"
            yield from rest


def tree(employees: int) -> Node:
    """Return that many employees on five levels, the last one taking all that do not fit above."""
    head = Node("head")
    level, made = [head], 1
    for depth in range(2, LEVELS + 1):
        wide = WIDE if depth < LEVELS else -(-(employees - made) // len(level))
        for node in level:
            count = min(wide, employees - made)
            node.below = [Node(f"{'e' if node is head else node.name}-{number}") for number in range(count)]
            made += count
        level = [below for node in level for below in node.below]
    return head


def make(folder: Path, employees: int, skills: int) -> None:
    """Write the folder."""
    head = tree(employees)
    owners = [third for second in head.below for third in second.below if third.below] or [head]
    for number in range(skills):
        owner, name = owners[number % len(owners)], f"work-{number}"
        owner.skills.append(name)
        does = owner.below[:6]
        steps = [
            f"  - {{id: s{place}, by: {node.name}, use: python, with: {{script: 'result = {place}'}}}}"
            for place, node in enumerate(does)
        ]
        there = folder / "skills" / name
        there.mkdir(parents=True)
        (there / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Does the work number {number}.\n---\nDo it.\n"
        )
        (there / "plan.yaml").write_text("\n".join(["steps:", *steps, "gives: {result: '{{ s0.result }}'}", ""]))
    (folder / "org.yaml").write_text(_ORG + "\n".join(head.lines()) + "\n")


def idle(folder: Path) -> dict[str, float]:
    """Load the folder in this process, seat everybody and idle; return what that took and holds."""
    import gc

    import psutil

    from agents.organisation import load
    from agents.workforce import InlineWorkforce
    from agents.workforce.ray.seating import Seating
    from console.specs import all_builtin_specs
    from runtime.clock import SystemClock

    builtin = all_builtin_specs()
    begun = time.perf_counter()
    organisation = load(folder, builtin=builtin)
    loaded = time.perf_counter() - begun
    nothing: Any = None
    workforce = InlineWorkforce(
        organisation, store=nothing, specs=organisation.specs, engine_for=nothing, cluster_for=nothing,
        clock=SystemClock(),
    )  # fmt: skip
    seating = Seating(workforce.staff)
    gc.collect()
    process = psutil.Process()
    assert not seating.sits_apart("head")
    return {
        "load_s": loaded,
        "cpu_s": time.process_time(),
        "process_s": time.time() - process.create_time(),
        "memory_mib": process.memory_info().rss / 2**20,
        "employees": len(organisation.employees),
    }


def measurements(arguments: argparse.Namespace) -> dict[str, Any]:
    """Load the same folder in several fresh processes, one after the other; the medians are told."""
    with tempfile.TemporaryDirectory(dir=folders(arguments.folder)[0], prefix="large-") as home:
        folder = Path(home)
        make(folder, arguments.employees, arguments.skills)
        runs = [_in_a_process(folder) for _ in range(arguments.runs + 1)][1:]  # the first one compiles
    return {
        "bench": "large_organisation",
        "employees": round(runs[0]["employees"]),
        "skills": arguments.skills,
        "load_s": round(median(run["load_s"] for run in runs), 2),
        "cpu_s": round(median(run["cpu_s"] for run in runs), 2),
        "process_s": round(median(run["process_s"] for run in runs), 2),
        "memory_mib": round(median(run["memory_mib"] for run in runs)),
    }


def _in_a_process(folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--idle", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2_000:])
    found: dict[str, float] = json.loads(done.stdout)
    return found


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return the measurements in words."""
    return [
        f"{found['employees']:,} employees, {found['skills']} skills: loaded and checked in {found['load_s']} s, "
        f"{found['process_s']} s from the start of the process ({found['cpu_s']} s of processor), "
        f"{found['memory_mib']} MiB idle"
    ]


def main() -> None:
    """Measure and print."""
    made = parser(__doc__)
    made.add_argument("--employees", type=int, default=5_000)
    made.add_argument("--skills", type=int, default=100)
    made.add_argument("--runs", type=int, default=3, help="fresh processes; the median is reported")
    made.add_argument("--idle", type=Path, help="load this folder in this process, and print what it took")
    arguments = made.parse_args()
    if arguments.idle:
        print(json.dumps(idle(arguments.idle)))
        return
    show(measurements(arguments), lines, as_json=arguments.json)


if __name__ == "__main__":
    main()
