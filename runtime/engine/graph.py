"""What a plan's steps wait for: their `after`, and every step that their bindings and expressions read."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from contracts import Alternative, Json, PlanDefinition, Step, StepId
from runtime.bindings import BindingFault, reference_of, texts_of
from runtime.expressions import names_in
from runtime.once import once_for_each

if TYPE_CHECKING:
    import networkx as nx


class PlanCycle(ValueError):
    """Steps of a plan wait for each other in a ring."""

    def __init__(self, ring: tuple[StepId, ...]) -> None:
        super().__init__(f"Steps wait for each other: {' → '.join((*ring, ring[0]))}.")
        self.ring = ring


@once_for_each(256)  # looked at several times for each order
def dependencies(plan: PlanDefinition) -> Mapping[StepId, frozenset[StepId]]:
    """Return for each step of the plan the other steps that come first; a group waits for what its branches need.

    Branches are not listed: a group starts them itself. What does not exist is left out; `check_plan` tells.
    """
    holder = {inner.id: step.id for step in plan.steps for inner in _with_branches(step)}
    return {
        step.id: frozenset(
            holder[name]
            for inner in _with_branches(step)
            for name in (*inner.after, *roots_of(inner))
            if name in holder and holder[name] != step.id
        )
        for step in plan.steps
    }


def order(plan: PlanDefinition) -> tuple[StepId, ...]:
    """Return the steps so that each comes after what it waits for, in reading order where that leaves a choice.

    Raises:
        PlanCycle: there is no such order.
    """
    sorted_ = _sorted(plan)
    if len(sorted_) < len(plan.steps):
        raise PlanCycle(rings(plan)[0])
    return sorted_


def rings(plan: PlanDefinition) -> list[tuple[StepId, ...]]:
    """Return one ring for each knot of steps that wait for each other, each in the order of waiting."""
    if len(_sorted(plan)) == len(plan.steps):
        return []
    import networkx as nx  # takes longer to load than most plans take to check, and nearly none has a ring

    graph = graph_of(plan)
    found = []
    for knot in nx.strongly_connected_components(graph):
        if len(knot) > 1:
            edges = nx.find_cycle(graph.subgraph(sorted(knot)))
            found.append(tuple(edge[0] for edge in edges))
    return sorted(found)


def _sorted(plan: PlanDefinition) -> tuple[StepId, ...]:
    """Return the steps, each after what it waits for, without those in or behind a ring."""
    needs = dependencies(plan)
    missing = {name: len(needed) for name, needed in needs.items()}
    followers: dict[str, list[str]] = {name: [] for name in needs}
    for name, needed in needs.items():
        for earlier in needed:
            followers[earlier].append(name)
    place = {step.id: number for number, step in enumerate(plan.steps)}
    ready = [number for name, number in place.items() if not missing[name]]
    found: list[StepId] = []
    while ready:
        name = plan.steps[heapq.heappop(ready)].id
        found.append(name)
        for follower in followers[name]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, place[follower])
    return tuple(found)


def graph_of(plan: PlanDefinition) -> nx.DiGraph[StepId]:
    """Return the plan as a graph: an edge leads from a step to one that waits for it."""
    import networkx as nx

    graph: nx.DiGraph[StepId] = nx.DiGraph()
    for step, needed in dependencies(plan).items():
        graph.add_node(step)
        graph.add_edges_from((name, step) for name in sorted(needed))
    return graph


def roots_of(step: Step) -> Iterator[str]:
    """Yield the first names that the step's own bindings and expressions read, without those of its branches."""
    for text in (text for value in bound_values(step) for text in texts_of(value)):
        try:
            yield reference_of(text).root
        except BindingFault:
            continue
    for source in conditions(step):
        yield from (path[0] for path in names_in(source))


def bound_values(step: Step) -> Iterator[Json]:
    """Yield every value of the step that may hold bindings."""
    yield step.arguments
    yield step.order
    yield step.plan
    yield step.for_each
    yield list(step.inherit)
    yield step.react if isinstance(step.react, str) else dict(step.react or {})
    if step.ask:
        yield step.ask.text if isinstance(step.ask.text, str) else dict(step.ask.text)
        yield list(step.ask.choices)
    if step.compensate:
        yield step.compensate.arguments
    yield from (said.arguments for said in _otherwise(step))


def conditions(step: Step) -> Iterator[str]:
    """Yield every expression of the step."""
    if step.when is not None:
        yield step.when
    yield from step.accept
    if step.until:
        yield step.until.check
    yield from (rule.check for rule in step.plausible)
    yield from (said.when for said in _otherwise(step) if said.when is not None)


def _otherwise(step: Step) -> Iterator[Alternative]:
    said = step.otherwise
    while said is not None:
        yield said
        said = said.otherwise


def _with_branches(step: Step) -> Iterator[Step]:
    yield step
    for branch in step.parallel:
        yield from _with_branches(branch)
