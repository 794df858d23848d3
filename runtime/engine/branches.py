"""Branches of parallel groups: how each is named in a whole execution, and how one is taken out of its group.

A branch's name is the way to it from the root order's plan, step by step: `look/first` is the branch `first` of the
group `look`, `settle/look/first` the same one in the order that the step `settle` became.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from contracts import Step, TaskOrder


def branches_of(order: TaskOrder) -> Mapping[str, str]:
    """Return branch → name, for every branch of the order's plan, nested ones too."""
    above = f"{order.path}/" if order.path else ""
    return {step: name for whole in order.plan.steps for step, name in _inside(whole, f"{above}{whole.id}")}


def path_of(order: TaskOrder, step: str, index: int | None) -> str:
    """Return the way from the root order's plan to a step of this one, or to one repetition of it."""
    above = branches_of(order).get(step) or (f"{order.path}/{step}" if order.path else step)
    return above if index is None else f"{above}[{index}]"


def is_in(branch: str, any_of: Collection[str]) -> bool:
    """Whether a branch is one of these or lies inside one; nothing is, for work outside every branch."""
    return bool(any_of) and any(branch == each or branch.startswith(f"{each}/") for each in any_of)


def steps_in(branch: Step) -> Iterator[Step]:
    """Yield the branch's own step and those of the groups inside it."""
    yield branch
    for inner in branch.parallel:
        yield from steps_in(inner)


def _inside(step: Step, name: str) -> Iterable[tuple[str, str]]:
    for branch in step.parallel:
        yield branch.id, f"{name}/{branch.id}"
        yield from _inside(branch, f"{name}/{branch.id}")
