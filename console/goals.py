"""What a model has to do with a goal: nothing where a skill is named or fits, else a plan or an answer."""

from __future__ import annotations

from collections.abc import Callable

from agents.employee.planning.complexity import complexity_of
from agents.employee.planning.goal import answering_plan, planning_plan
from agents.organisation import Organisation, route
from console.views import RunOptions
from contracts import PlanDefinition
from runtime.engine.ports import SkillChoice, SkillsShown
from runtime.model import model_required_for
from runtime.model.naming import names_in
from runtime.settings.load import Settings


async def plan_for(
    options: RunOptions, organisation: Organisation, settings: Settings, skills: Callable[[Organisation], SkillChoice]
) -> PlanDefinition | None:
    """Return the plan for a goal that a model has to do with; None where a skill is named, or the only one that fits.

    Args:
        options: what somebody asks for.
        organisation: whom.
        settings: which models there are.
        skills: what chooses the skills that the model sees; made where it is needed.

    Raises:
        ModelRequired: a plan or an answer of a model is asked for, and none is set.
    """
    if options.skill is not None:
        return None
    if "reason" not in names_in(settings.model, organisation.models):
        if options.mode != "auto":
            raise model_required_for(options.mode)
        return None
    found = route(options.goal, organisation.skills.values())
    if options.mode == "auto" and found.skill is not None:
        return None
    likely = [fit.skill for fit in found.fits if fit.fits]
    complexity = complexity_of(options.goal, fitting=likely, threshold=settings.engine.plan_from)
    why = f"complexity {complexity}" if options.mode == "auto" else f"asked for; complexity {complexity}"
    if options.mode == "plan" or (options.mode == "auto" and complexity.needs_plan):
        shown = await _shown(options.goal, organisation, skills(organisation))
        if shown.without_meaning:
            why = f"{why}; its skills were found by words alone, because {shown.without_meaning.rstrip('.')}"
        return planning_plan(organisation, shown.names, why=why)
    return answering_plan(why=why)


async def _shown(goal: str, organisation: Organisation, skills: SkillChoice) -> SkillsShown:
    """Return the skills that a model sees for the goal; the head may plan with those of everybody."""
    return await skills.for_step(organisation.head.id, goal, [*organisation.skills])
