"""What a model has to do with a goal: nothing where a skill is named or fits, else a plan or an answer."""

from __future__ import annotations

import logging
from pathlib import Path

from agents.employee.planning.complexity import complexity_of
from agents.employee.planning.goal import answering_plan, planning_plan
from agents.organisation import Organisation, route
from agents.skills import SkillRouter
from console.views import RunOptions
from contracts import PlanDefinition
from runtime.model import model_required_for
from runtime.model.naming import names_in
from runtime.search import Embedder, EmbedderUnavailable, KeptVectors, local_embedder
from runtime.settings.load import Settings

_log = logging.getLogger(__name__)


async def plan_for(options: RunOptions, organisation: Organisation, settings: Settings) -> PlanDefinition | None:
    """Return the plan for a goal that a model has to do with; None where a skill is named, or the only one that fits.

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
        return planning_plan(organisation, await _shown(options.goal, organisation, settings), why=why)
    return answering_plan(why=why)


async def _shown(goal: str, organisation: Organisation, settings: Settings) -> list[str]:
    """Return the skills that a model sees for the goal."""
    router = SkillRouter(
        organisation.head.id, organisation.skills.values(), embedder=_embedder(settings.home), settings=settings.skills
    )
    return [each.skill.name for each in (await router.show(goal)).skills]


def _embedder(home: Path) -> Embedder | None:
    """Return what finds skills by meaning, where it is installed and runs here; else their words have to do."""
    try:
        embedder = local_embedder()
    except EmbedderUnavailable as error:
        _log.warning("skills are found by their words alone: %s", error)
        return None
    return None if embedder is None else KeptVectors(embedder, home / "vectors")
