"""Do the steps of a plan hang together? What can be told from the plan alone, before anything of it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from contracts import PlanDefinition, Step, StepId
from runtime.bindings import BindingFault, references
from runtime.engine.check_names import near
from runtime.engine.check_values import always
from runtime.engine.fault import Path, PlanFault
from runtime.engine.graph import bound_values, dependencies, rings
from runtime.expressions import names_in


def shape_faults(plan: PlanDefinition) -> Iterator[PlanFault]:
    """Yield rings, waits for what there is not, and steps that are never reached; nothing for a plan that can run."""
    if len(plan.steps) == 1 and not plan.steps[0].parallel and not _says_when(plan.steps[0]):
        return  # most orders are one step, and each is looked at before it runs
    groups = {branch.id: step.id for step in plan.all_steps() for branch in step.parallel}
    for step, path in _walk(plan):
        yield from _after_faults(step, path, plan, groups)
        if step.when is not None and always(step.when) is False:
            what = f"`{step.id}` never runs: `{step.when}` is always false."
            lost = unreached(plan, [step.id], skipped=True)
            yield PlanFault((*path, "when"), what, f"Take the step out.{_with_it(lost)}")
    yield from _ring_faults(plan)


def _says_when(step: Step) -> bool:
    return bool(step.after or step.when)


def _walk(plan: PlanDefinition) -> Iterator[tuple[Step, Path]]:
    waiting: list[tuple[Step, Path]] = [(step, ("steps", number)) for number, step in enumerate(plan.steps)]
    while waiting:
        step, path = waiting.pop(0)
        yield step, path
        waiting = [(branch, (*path, "parallel", number)) for number, branch in enumerate(step.parallel)] + waiting


def _after_faults(step: Step, path: Path, plan: PlanDefinition, groups: Mapping[StepId, StepId]) -> Iterator[PlanFault]:
    steps = {other.id for other in plan.steps}
    for number, name in enumerate(step.after):
        place = (*path, "after", number)
        if name == step.id:
            yield PlanFault(place, f"`{name}` waits for itself.")
        elif name in groups and groups[name] == groups.get(step.id):
            yield PlanFault(place, f"`{name}` is a branch of the same group; branches run at the same time.")
        elif name in groups:
            yield PlanFault(place, f"`{name}` is a branch of `{groups[name]}`.", "Wait for the whole group.")
        elif name not in steps:
            yield PlanFault(place, f"There is no step `{name}` to wait for.", near(name, steps - {step.id}))


def _ring_faults(plan: PlanDefinition) -> Iterator[PlanFault]:
    number = {step.id: position for position, step in enumerate(plan.steps)}
    for ring in rings(plan):
        start = min(range(len(ring)), key=lambda at: number[ring[at]])
        turned = (*ring[start:], *ring[:start], ring[start])
        yield PlanFault(
            ("steps", number[turned[0]]),
            f"Steps wait for each other in a ring: {' → '.join(turned)}.",
            f"Take one of these dependencies out.{_with_it(unreached(plan, ring, skipped=False))}",
        )


def _with_it(lost: list[StepId]) -> str:
    return f" Never reached because of it: {', '.join(f'`{step}`' for step in lost)}." if lost else ""


def unreached(plan: PlanDefinition, never: Iterable[StepId], *, skipped: bool) -> list[StepId]:
    """Return the steps that do not run because those of `never` do not; one fault is told once, at its cause.

    Args:
        skipped: whether those count as skipped: a step that waits for one still runs, unless it reads into it.
    """
    needs, lost, found = dependencies(plan), set(never), list[StepId]()
    while True:
        more = [
            step.id
            for step in plan.steps
            if step.id not in lost and needs[step.id] & lost and (not skipped or lost & reads_into(step))
        ]
        if not more:
            return found
        lost.update(more)
        found += more


def reads_into(step: Step) -> set[str]:
    """Return what the step is skipped with when it is skipped: what it reads a field of, or asks about."""
    values = bound_values(step.model_copy(update={"otherwise": None}))
    found: set[str] = set()
    for value in values:
        try:
            found |= {read.root for read in references(value) if read.path or value == step.for_each}
        except BindingFault:
            continue
    if step.when is not None:
        found |= {path[0] for path in names_in(step.when)}
    return found
