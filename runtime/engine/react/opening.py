"""The moving parts of a step's system prompt: looked at once, when the step begins, and recorded.

A prompt whose beginning stays the same to the last byte is one that the endpoint need not read again; and whatever
changed meanwhile is not taken away from under a conversation that speaks of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from contracts import Materialisation, Step
from runtime.canonical import sha256, to_bytes
from runtime.context.blocks import INSIGHTS, SYSTEM, About
from runtime.context.bus import Input, index_parts
from runtime.context.goal import Mark, Outlined, goal_part, plan_part
from runtime.context.memory import complexity_of, shown_insights
from runtime.context.parts import Form, Part
from runtime.engine.context import Run
from runtime.engine.react.stored_data import listed
from runtime.engine.states import UnitState
from runtime.engine.view import Unit
from runtime.ledger.port import NewEvent
from runtime.texts import in_language

_ABOUT = 120
"""Characters in which the plan's outline says what a step does."""
_MARKS: Mapping[UnitState, Mark] = {
    UnitState.DONE: Mark.DONE,
    UnitState.FAILED: Mark.FAILED,
    UnitState.SKIPPED: Mark.SKIPPED,
}


async def opened(run: Run, step: Step, unit: Unit, about: About, inputs: Sequence[Input]) -> Sequence[Part]:
    """Return everything of the system prompt beside the platform's rules, in the order of `SYSTEM`."""
    static = [part for block in run.blocks if not block.moves for part in await block.parts(about)]
    moving = await _moving(run, step, unit, about, inputs)
    parts = (goal_part(run.order), *static, *moving)
    return sorted(parts, key=lambda part: SYSTEM.index(part.block))  # within a block the order stays


async def _moving(
    run: Run, step: Step, unit: Unit, about: About, inputs: Sequence[Input]
) -> Sequence[Part]:  # fmt: skip
    react = unit.react
    if react is None or (react.opened is None and not react.turns):
        parts = [part for block in run.blocks if block.moves for part in await block.parts(about)]
        index = index_parts(await listed(run, step, inputs), run.context, room=_room(run, inputs))
        await _record(run, unit, [*_of_order(run, step, about), *parts, *index])
        react = unit.react
    if react is None:
        return ()
    if react.opened_sha256 is not None and react.opened is None:
        react.opened = json.loads(await run.blobs.get(react.opened_sha256))
    return [_read(told) for told in react.opened or ()]


def _of_order(run: Run, step: Step, about: About) -> Iterator[Part]:
    """Yield the goal, the plan and what was noted so far."""
    now = _top(run, step)
    plan = [
        Outlined(each.id, Mark.NOW if each.id == now else _mark(run, each), _about(run, each))
        for each in run.order.plan.steps
    ]
    outline = plan_part(plan, most=run.context.plan_chars)
    if outline is not None:
        yield outline
    finished = sum(run.view.state_of(each.id) is UnitState.DONE for each in run.order.plan.steps)
    complexity = complexity_of(about.task, len(about.uses), run.context)
    shown = shown_insights(run.view.insights, steps=finished, complexity=complexity, settings=run.context)
    if shown:
        lines = [f"- {insight.step}: {insight.text}" for insight in shown]
        yield Part(INSIGHTS, "\n".join(["Noted in earlier steps, newest first:", *lines]), "the working memory")


def _room(run: Run, inputs: Sequence[Input]) -> int:
    """Return how much of the data bus the inputs leave."""
    whole = sum(len(each.text) for each in inputs if each.form is Materialisation.FULL)
    short = sum(run.context.digest_chars for each in inputs if each.form is not Materialisation.FULL)
    return run.context.bus_chars - whole - short


def _top(run: Run, step: Step) -> str:
    """Return the step of the plan that this one is, or is a branch of."""
    return next((each.id for each in run.order.plan.steps if step.id in _names(each)), step.id)


def _names(step: Step) -> set[str]:
    return {step.id}.union(*(_names(branch) for branch in step.parallel))


def _mark(run: Run, step: Step) -> Mark:
    return _MARKS.get(run.view.state_of(step.id), Mark.OPEN)


def _about(run: Run, step: Step) -> str:
    said = in_language(step.description, run.order.language) or (step.use or step.skill or "")
    words = " ".join(said.split())
    return words if len(words) <= _ABOUT else f"{words[:_ABOUT]}…"


async def _record(run: Run, unit: Unit, parts: Sequence[Part]) -> None:
    if not parts:
        return
    told = run.journal.redact([_told(part) for part in parts])
    text = to_bytes(told)
    if len(text) <= run.settings.inline_output:
        await run.journal.write_ahead(NewEvent("context.opened", {**unit.place, "parts": told}))
    else:
        data = {**unit.place, "parts_sha256": sha256(text)}
        await run.journal.write(NewEvent("context.opened", data), blobs=[text])


def _told(part: Part) -> dict[str, Any]:
    told = {"block": part.block, "text": part.text, "origin": part.origin}
    told |= {"ref": part.ref} if part.ref else {}
    told |= {"form": part.form.value} if part.form is not Form.FULL else {}
    return told | ({"pinned": "yes"} if part.pinned else {})


def _read(told: Mapping[str, Any]) -> Part:
    return Part(
        told["block"], told["text"], told["origin"], told.get("ref"), Form(told.get("form", Form.FULL)),
        "pinned" in told,
    )  # fmt: skip
