"""A small organisation with sensors, and servers of it that share one ledger and a clock moved by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from console.beats.beat import Beat
from console.resources import Resources
from runtime.executor import ExecutionView
from runtime.executor.register import Register
from runtime.settings.load import load
from tests.fakes.clock import HandClock
from tests.stores import lay_empty_ledger

ORG = """\
name: desk
time_zone: Europe/Berlin
{more}people:
  - {{id: ana, name: Ana, roles: [operator], login: any}}
goals: {{order: Everything is in order}}
head:
  id: head
  skills: [tell, audit]
"""
SKILL = """\
---
name: {name}
description: {name}s somebody.
metadata: {{when_to_use: "To {name} somebody.", words: [{name}]}}
---
"""
PLAN = """\
parameters:
  text: {type: string, default: Nothing new.}
steps:
  - id: tell
    use: notify
    with: {to: ana, text: "{{ text }}"}
"""


def make_desk(folder: Path, more: str = "", **sensors: str) -> Path:
    """Write the organisation with these sensors, name → file."""
    (folder / "sensors").mkdir(parents=True)
    (folder / "org.yaml").write_text(ORG.format(more=more))
    for name in ("tell", "audit"):
        (folder / "skills" / name).mkdir(parents=True)
        (folder / "skills" / name / "SKILL.md").write_text(SKILL.format(name=name))
        (folder / "skills" / name / "plan.yaml").write_text(PLAN)
    for name, text in sensors.items():
        (folder / "sensors" / f"{name.replace('_', '-')}.yaml").write_text(text)
    return folder


def cron(at: str, *, skill: str = "tell", advances: str = "order", more: str = "") -> str:
    """Return the file of a cron sensor."""
    goal = f'{{skill: {skill}, goal: "Do it at {{{{ time }}}}", advances: {advances}}}'
    return f'cron: "{at}"\n{more}raises: {goal}\n'


@asynccontextmanager
async def served(home: Path, clock: HandClock, **settings: object) -> AsyncIterator[Resources]:
    """Give what a server of this home has open."""
    if not home.exists():  # noqa: ASYNC240
        lay_empty_ledger(home)
    given = {"home": str(home), "ledger.synchronous": "NORMAL", **settings}
    resources = Resources(load(given, working=home), clock)
    try:
        yield resources
    finally:
        await resources.close()


async def executions(resources: Resources) -> list[ExecutionView]:
    """Return every execution, oldest first."""
    return list(await Register(await resources.store()).list())


async def work_off(resources: Resources) -> None:
    """Carry out every execution that was asked for."""
    executor = await resources.executor()
    for view in await executor.list(unfinished_only=True):
        await executor.run(view.execution_id)


async def watch(beat: Beat, clock: HandClock, *, hours: float, step_s: float = 600.0) -> None:
    """Let time pass, with a turn every so often."""
    left_s = hours * 3_600
    while left_s > 0:
        clock.advance(min(step_s, left_s))
        left_s -= step_s
        await beat.go()
