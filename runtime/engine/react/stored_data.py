"""What earlier steps of the order left that is stored: what a step depends on first, then the newest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from contracts import Step
from runtime.context.bus import Input, Listed
from runtime.engine.context import Run
from runtime.engine.graph import dependencies
from runtime.engine.recall import read_units
from runtime.engine.view import UNREAD, UnitKey


async def listed(run: Run, step: Step, inputs: Sequence[Input]) -> Sequence[Listed]:
    """Return the stored results that the index of a step lists, without those that are among its inputs.

    However long the order is, so many are looked at as `context.listed_most` says.
    """
    keys = _first_of(chain(_needed(run, step), _newest(run)), run.context.listed_most)
    await read_units(run.view, keys)
    shown = {each.ref for each in inputs}
    found: dict[str, Listed] = {}
    for key in keys:
        result = run.view.unit(*key).result
        if result is None or result is UNREAD or not result.about or result.output_sha256 is None:
            continue
        if result.output_sha256 not in shown:
            name = key[0] if key[1] is None else f"{key[0]}[{key[1]}]"
            found.setdefault(
                result.output_sha256, Listed(name, result.output_sha256, result.length, result.about)
            )  # fmt: skip
    return list(found.values())


def _first_of(keys: Iterable[UnitKey], most: int) -> Sequence[UnitKey]:
    """Return so many different ones, and look at no more of them than that takes."""
    found: dict[UnitKey, None] = {}
    for key in keys:
        if len(found) >= most:
            break
        found[key] = None
    return tuple(found)


def _needed(run: Run, step: Step) -> Iterator[UnitKey]:
    """Yield what the step depends on."""
    needs = dependencies(run.order.plan).get(step.id, frozenset())
    yield from ((each.id, None) for each in run.order.plan.steps if each.id in needs)


def _newest(run: Run) -> Iterator[UnitKey]:
    """Yield the units that are done, the newest first."""
    view = run.view
    yield from reversed(view.finished)
    yield from (key for key in reversed(view.settled) if key not in view.skipped)
