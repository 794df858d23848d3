"""A conversation made ready: its tools, its task, and what else its model is told."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from contracts import Json, Step
from runtime.bindings import resolve
from runtime.context.blocks import About
from runtime.context.bus import materialised
from runtime.engine.check_tools import tools_of
from runtime.engine.context import Run
from runtime.engine.react.offer import offered_skills
from runtime.engine.react.opening import opened
from runtime.engine.react.own import offer_inspection, own_tools
from runtime.engine.react.talk import Talk
from runtime.engine.react.tools import Toolbox
from runtime.engine.scope import Scope
from runtime.engine.view import Unit
from runtime.texts import in_language


async def prepare(run: Run, step: Step, unit: Unit, scope: Scope) -> Talk:
    """Return the conversation, ready to go on; raise NotFound for a tool that there is not."""
    given = cast("dict[str, Json]", resolve(dict(step.arguments), scope.values))
    task = str(resolve(in_language(step.react or "", run.order.language), scope.values))
    skills = await offered_skills(run, step, unit, task)
    own = dict.fromkeys(tools_of(step)).keys() - {skill.name for skill in skills}
    specs = [run.router.spec(name) for name in dict.fromkeys(tools_of(step)) if name in own]
    box = Toolbox(step, [*specs, *skills], given, own=own_tools(run, step))
    known = unit.react.condensed if unit.react is not None else {}
    inputs = [
        replace(each, condensed=known.get(each.ref, ""))
        for each in materialised(box.shown_inputs, step.material, run.context)
    ]
    opening = await opened(run, step, unit, About(run.order, step.id, task, box.uses), inputs)
    talk = Talk(run, step, unit, scope, box, task, run.clock.now(), inputs=inputs, opening=opening)
    offer_inspection(talk)
    return talk
