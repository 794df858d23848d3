"""The skills that a model may have done in its step, as tools beside its capabilities."""

from __future__ import annotations

from collections.abc import Sequence

from contracts import ALL_SKILLS, Name, Step
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.context import Run, clean_data
from runtime.engine.view import Unit
from runtime.errors import CapabilityFailed
from runtime.ledger.port import NewEvent

OWN = "own"
"""Kind of a tool of the engine itself, about what a model knows."""
SKILL = "skill"
"""Kind of a tool that is an order for somebody, not a call."""


async def offered_skills(run: Run, step: Step, unit: Unit, task: str) -> Sequence[CapabilitySpec]:
    """Return the skills that the step's model is shown, the same ones as long as the step goes on.

    Those of `all` are chosen once for the task, and recorded: another choice after a stop would take away a tool that
    the conversation speaks of.

    Raises:
        CapabilityFailed: orders cannot be passed on from here.
        NotFound: there is no such skill.
    """
    if not step.skills:
        return ()
    if run.delegate is None:
        raise CapabilityFailed(f"Step {step.id} has skills to call, and orders cannot be passed on from here.")
    names = step.skills if step.skills != ALL_SKILLS else await _chosen(run, step, unit, task)
    return run.delegate.skill_tools(run.order, names)


async def _chosen(run: Run, step: Step, unit: Unit, task: str) -> Sequence[Name]:
    assert run.delegate is not None
    if unit.react is None or unit.react.offered is None:
        shown = await run.delegate.fitting_skills(run.order, task, beside=step.must_call)
        told = {"skills": list(shown.names), "why": dict(shown.reasons), "left_out": list(shown.left_out)}
        data = {**unit.place, **told, "without_meaning": shown.without_meaning or None}
        await run.journal.write(NewEvent("tools.offered", clean_data(data)))
    assert unit.react is not None and unit.react.offered is not None
    return unit.react.offered
