"""What a step gave, whole: the value as JSON, as far as it fits a screen, or all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

from rich.console import RenderableType
from rich.text import Text

from console.cli.form import to_data
from console.cli.render.marks import icon
from console.views import ExecutionTree, OrderNode, StepNode, StepState
from contracts import Json, OrderId
from runtime.errors import NotFound
from runtime.telemetry import redact
from runtime.texts import Say

LINES, LETTERS = 200, 400
"""How many lines are shown, and how much of each, unless all is asked for."""
_TYPED = re.compile(r"(?P<id>.+?)(\[(?P<index>\d+)\])?")


@dataclass(frozen=True, slots=True)
class Given:
    """A step, or one repetition of it, in the order that it belongs to."""

    order: OrderNode
    step: StepNode

    @property
    def name(self) -> str:
        """`step`, or `step[2]` for the third repetition."""
        return self.step.id if self.step.index is None else f"{self.step.id}[{self.step.index}]"

    def data(self) -> dict[str, Json]:
        """Return it for programs, the value whole."""
        state, employee = self.step.state.value, self.order.employee
        found = {"order_id": str(self.order.order_id), "employee": employee, "step": self.step.id}
        value = to_data({"index": self.step.index, "state": state, "damaged": self.step.damaged})
        return {**found, **value, "output": redact(self.step.output)}


def steps_named(tree: ExecutionTree, typed: str, *, order: OrderId | None) -> list[Given]:
    """Return the steps of that name: of one order, or of all; `look[2]` is one repetition.

    Raises:
        NotFound: there is none; the message names those that are most like it.
    """
    all_ = [each for each in _all(tree.root) if order in (None, each.order.order_id)]
    named = _TYPED.fullmatch(typed.strip())
    wanted = None if named is None else (named["id"], None if named["index"] is None else int(named["index"]))
    found = [each for each in all_ if (each.step.id, each.step.index) == wanted]
    if found:
        return found
    names = list(dict.fromkeys(each.name for each in all_))
    like = get_close_matches(typed, names, n=5, cutoff=0.4) or names[:10]
    where = str(order or tree.outcome.execution_id)
    told = f"It has {', '.join(like)}." if like else "No step of it has begun."
    raise NotFound(f"{where} has no step {typed!r}. {told}", typed=typed, steps=list(like))


def given_lines(given: Given, say: Say, *, whole: bool) -> Iterator[RenderableType]:
    """Yield whose step it is and what it gave; `whole` leaves nothing out."""
    detail = f"  {given.order.employee} · {given.order.order_id}"
    yield Text.assemble(icon(given.step.state.value), " ", (given.name, "bold"), (detail, "dim"))
    step = given.step
    if step.damaged:
        yield Text(f"  {say('show-damaged')}")
    elif step.output in (None, []) and step.steps:
        parts = [each.id if each.index is None else f"{each.id}[{each.index}]" for each in step.steps]
        yield Text(f"  {say('given-parts', parts=', '.join(parts[:LINES]))}", style="dim")
    elif step.output is None:
        over = step.state in (StepState.DONE, StepState.FAILED, StepState.SKIPPED, StepState.CANCELLED)
        yield Text(f"  {say('given-nothing' if over else 'given-not-yet')}", style="dim")
    else:
        yield from _value(redact(step.output), say, whole=whole)


def _value(value: Json, say: Say, *, whole: bool) -> Iterator[Text]:
    lines = json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    if whole:
        yield from (Text(f"  {line}") for line in lines)
        return
    cut = False
    for line in islice(lines, LINES):
        cut = cut or len(line) > LETTERS
        yield Text(f"  {line[:LETTERS]}…" if len(line) > LETTERS else f"  {line}")
    if cut or len(lines) > LINES:
        yield Text(f"  {say('given-more', count=max(0, len(lines) - LINES))}", style="dim")


def _all(order: OrderNode | None) -> Iterator[Given]:
    """Yield every step of an order and of those below, in the order in which they are shown."""
    for step in order.steps if order is not None else ():
        assert order is not None
        yield from _below(order, step)


def _below(order: OrderNode, step: StepNode) -> Iterator[Given]:
    yield Given(order, step)
    for part in step.steps:
        yield from _below(order, part)
    for inner in step.orders:
        yield from _all(inner)
