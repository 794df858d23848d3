"""What the output of a finished order rests on, so that a number can be followed through it."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.bindings import BindingFault, reference_of, texts_of
from runtime.engine.origins import data_hash
from runtime.engine.recall import read_units
from runtime.engine.view import OrderView


@dataclass(frozen=True, slots=True)
class Source:
    """The query and the data behind an order's output, and what was called on the way."""

    query_sha256: str | None = None
    data_sha256: str | None = None
    uses: tuple[str, ...] = ()
    changed_the_world: bool = False
    """Whether it, or an order below it, carried out an effect that must not be repeated."""


async def source_of(view: OrderView) -> Source:
    """Return what the order's output rests on: the one step it was taken from, or all of them together."""
    if view.order is None:
        return Source()
    plan = view.order.plan
    steps = list(dict.fromkeys(_roots(list(plan.gives.values())))) if plan.gives else [plan.steps[-1].id]
    await read_units(view, [(name, None) for name in steps])
    results = [unit.result for name in steps if (unit := view.known((name, None))) and unit.result]
    queries = {result.query_sha256 for result in results}
    alone = results[0].rests_on if len(results) == 1 else None
    return Source(
        query_sha256=queries.pop() if len(queries) == 1 else None,
        data_sha256=alone or data_hash(result.rests_on or result.result_sha256 for result in results),
        uses=view.uses,
        changed_the_world=view.changed_the_world,
    )


def _roots(bindings: list[object]) -> list[str]:
    found = []
    for text in texts_of(bindings):  # type: ignore[arg-type]
        try:
            found.append(reference_of(text).root)
        except BindingFault:
            continue
    return found
