"""The other ways to do a step: what `otherwise` says, with the step's own where it says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from contracts import Alternative, Problem, Step
from runtime.engine.scope import Scope, holds
from runtime.engine.view import Unit
from runtime.errors import CapabilityFailed

PROBLEM = "problem"
"""Under this name the `when` of another way sees what went wrong."""


@dataclass(frozen=True, slots=True)
class Way:
    """Another way that is taken now."""

    number: int
    """From 1, in the order they are declared."""
    skip: bool
    """Whether it is to go on without the step."""


def other_way(step: Step) -> Step | None:
    """Return the step as its `otherwise` does it, None when it has none.

    Whoever does the step does it the other way too, unless `otherwise` names somebody else: nobody gets to do with it
    what is another's. Where it names nothing else to call, its arguments change those of the step one by one.
    """
    other = step.otherwise
    if other is None:
        return None
    named = other.use is not None or other.skill is not None
    return step.model_copy(
        update={
            "by": other.by or step.by,
            "use": other.use if named else step.use,
            "skill": other.skill if named else step.skill,
            "order": None,
            "plan": None if named else step.plan,
            "ask": None if named else step.ask,
            "react": None if named else step.react,
            "tools": () if named else step.tools,
            "must_call": () if named else step.must_call,
            "arguments": (other.arguments or step.arguments) if named else {**step.arguments, **other.arguments},
            "otherwise": other.otherwise,
        }
    )


def other_ways(step: Step) -> Iterator[tuple[Alternative, Step]]:
    """Yield what each `otherwise` says, one behind the other, with the step as it is done then."""
    form = step
    while form.otherwise is not None:
        said, form = form.otherwise, other_way(form) or form
        yield said, form


def forms_of(step: Step) -> Iterator[Step]:
    """Yield the step in every form in which it may be done, its own first."""
    yield step
    yield from (form for said, form in other_ways(step) if not said.skip)


def form_of(step: Step, unit: Unit) -> Step:
    """Return the step as it is to be done now: its own form, or the way that a revision came to."""
    forms = [step, *(form for _, form in other_ways(step))] if unit.way else [step]
    return forms[min(unit.way, len(forms) - 1)]


def next_way(step: Step, unit: Unit, problem: Problem, scope: Scope) -> Way | None:
    """Return the first way after the one that failed whose `when` holds, None when none is left."""
    for number, (said, _) in enumerate(other_ways(step), 1):
        if number > unit.way and _applies(said, problem, scope):
            return Way(number, said.skip)
    return None


def _applies(said: Alternative, problem: Problem, scope: Scope) -> bool:
    if said.when is None:
        return True
    try:
        return holds(said.when, {**scope.values, PROBLEM: problem.to_json()})
    except CapabilityFailed:  # what cannot be judged is no yes
        return False
