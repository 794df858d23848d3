"""Progress on a terminal: the tree of employees and their steps, redrawn as events arrive."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from console.cli.output import Output
from console.cli.render.branches import Branch, tree
from console.cli.render.marks import icon, word
from console.cli.render.queued import Waits, WaitsTold, look_at_waits, waits_lines
from console.cli.words import seconds
from console.ports_executions import Executions, Watch
from console.progress import LiveOrder, LiveStep, Progress, place_of
from console.views import StepState
from contracts import Event, ExecutionId, OrderState
from runtime.texts import Say

_log = logging.getLogger(__name__)


class Picture:
    """The tree as it stands now; finished orders are one line."""

    def __init__(self, progress: Progress, say: Say, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._progress = progress
        self._say = say
        self._now = now
        self.waits: Waits | None = None
        """What is waited for; it stands below the tree."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        root = self._progress.root
        if root is not None:
            yield from tree([order_branch(root, self._now(), top=True)], self._say, options.max_width)
        if self.waits is not None:
            yield from waits_lines(self.waits, self._say)


def order_branch(order: LiveOrder, now: datetime, *, top: bool = False) -> Branch:
    """Return the branch of an order; below it its steps, unless it is done and not the root."""
    children = tuple(step_branch(step, now) for step in order.steps.values())
    return Branch(
        state=order.state.value,
        label=order.employee,
        detail=order.skill or "",
        seconds=order.seconds or _since(order.started, now),
        children=children if top or order.state is not OrderState.DONE else (),
    )


def step_branch(step: LiveStep, now: datetime) -> Branch:
    """Return the branch of a step; an order it was given to stands in its line, several stand below it."""
    label = f"{step.id} × {step.finished}" if step.repeated and step.finished > 1 else step.id
    running = step.state is StepState.RUNNING and step.started is not None
    spent = _since(step.started, now) if running and step.started else step.seconds or None
    if len(step.orders) == 1 and not step.repeated:
        below = order_branch(step.orders[0], now)
        plain = list(step.orders[0].steps) == ["do"]
        detail = f"{below.label} · {step.orders[0].steps['do'].what}" if plain else f"{below.label} · {below.detail}"
        return Branch(step.state.value, label, detail.rstrip(" ·"), spent, children=() if plain else below.children)
    unfinished = [order for order in step.orders if order.state is not OrderState.DONE]
    return Branch(step.state.value, label, step.what, spent, children=tuple(order_branch(o, now) for o in unfinished))


async def progress_so_far(executions: Executions, execution_id: ExecutionId) -> Progress:
    """Return the picture of an execution as it stands, so that what comes next has its place in it."""
    progress = Progress()
    async for event in executions.events(execution_id, after=0, follow=False):
        progress.apply(event)
    return progress


@asynccontextmanager
async def progress_shown(
    executions: Executions, output: Output, also: Watch, progress: Progress | None = None
) -> AsyncIterator[Watch]:
    """Show progress while the block runs, by the events its watch is given; `also` sees them first.

    On a terminal it is a tree, elsewhere a line for each thing that ends; both on standard error. With `progress` it
    goes on from that picture. What is waited for is no event; it is looked up now and then.
    """
    progress = progress or Progress()
    if not output.notes.is_terminal or output.as_json:
        said = WaitsTold()

        def tell(waits: Waits) -> None:
            for line in waits_lines(said.news(waits), output.say):
                output.note(line)

        async with _waits_watched(executions, progress, tell):
            yield _in_lines(progress, output, also)
        return
    picture = Picture(progress, output.say)
    with Live(picture, console=output.notes, refresh_per_second=8) as live:

        def watch(event: Event) -> None:
            also(event)
            if progress.apply(event):
                live.refresh()

        def draw(waits: Waits) -> None:
            picture.waits = waits

        async with _waits_watched(executions, progress, draw):
            yield watch
        picture.waits = None


@asynccontextmanager
async def _waits_watched(
    executions: Executions, progress: Progress, tell: Callable[[Waits], None]
) -> AsyncIterator[None]:
    looking = asyncio.create_task(look_at_waits(executions, progress, tell), name="looks what is waited for")
    try:
        yield
    finally:
        looking.cancel()
        (ended,) = await asyncio.gather(looking, return_exceptions=True)
        if isinstance(ended, Exception):  # the work itself is not the worse for it
            _log.warning("what is waited for could not be looked at", exc_info=ended)


def _in_lines(progress: Progress, output: Output, also: Watch) -> Watch:
    def watch(event: Event) -> None:
        also(event)
        if not progress.apply(event):
            return
        line = line_of(progress, event, output.say)
        if line is not None:
            output.note(line)

    return watch


def line_of(progress: Progress, event: Event, say: Say) -> Text | None:
    """Return the line that says what an event means, or None for one that needs none."""
    order = progress.order(event.subject)
    if order is None or event.data is None:
        return None
    if event.type == "order.accepted":
        text = say("progress-accepted", employee=order.employee, skill=order.skill or "")
        return Text.assemble(icon("running"), " ", text.rstrip())
    place = _place(order, event.data)
    if event.type == "model.answered":
        text = say("progress-answered", number=event.data["answer"])
        return Text.assemble(icon("running"), f" {place}  ", text)
    state = {"step.finished": "done", "step.waiting": "waiting", "step.skipped": "skipped"}.get(event.type)
    if event.type == "step.failed":
        state = "failed" if event.data.get("final") else "running"
    if state is None:
        return None
    spent = event.data.get("seconds")
    time = f"  {seconds(float(spent))}" if isinstance(spent, int | float) else ""
    return Text.assemble(icon(state), f" {place}  ", word(state, say), (time, "dim"))


def _place(order: LiveOrder, data: Mapping[str, Any]) -> str:
    return place_of(order.employee, data.get("step"), data.get("index"))


def _since(start: datetime, now: datetime) -> float:
    return max(0.0, (now - start).total_seconds())
