"""An execution in full: every order, step, number, source and piece of evidence."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from rich.console import RenderableType
from rich.text import Text

from console.cli.output import Output
from console.cli.render.branches import Branch, tree
from console.cli.render.outcome import outcome_lines
from console.cli.render.queued import asked_words
from console.cli.render.summary import facts_of, fill
from console.cli.words import brief_hash, command_line, moment, one_line
from console.views import ExecutionTree, OrderNode, StepNode
from console.views_rules import RefusedAction
from runtime.texts import Say

NOTE_INDENT = 12
"""Cells that the guides before a note may take."""


def execution_lines(shown: ExecutionTree, output: Output) -> Iterator[RenderableType]:
    """Yield an execution for people."""
    say, outcome = output.say, shown.outcome
    width = output.answers.width
    yield from outcome_lines(outcome, output)
    yield Text()
    asked = say("show-asked", by=shown.requested_by, at=moment(shown.requested_at))
    known = f" · {say('show-known-at', at=moment(shown.known_at))}" if shown.known_at else ""
    yield Text(f"{outcome.execution_id} · {asked}{known} · {say('show-trace', trace=shown.trace_id)}", style="dim")
    if shown.root is not None:
        yield from tree([order_branch(shown.root, say, width)], say, width)
        yield Text(say("show-how", command=command_line("show", str(outcome.execution_id), "STEP")), style="dim")


def order_branch(order: OrderNode, say: Say, width: int) -> Branch:
    """Return the branch of an order."""
    skill = f" · {order.skill}" if order.skill else ""
    return Branch(
        state=order.state.value,
        label=order.title or order.employee,
        detail=f"{order.employee}{skill}",
        seconds=order.seconds or None,  # what was stopped counts nothing
        notes=_order_notes(order, say),
        children=tuple(step_branch(step, say, width) for step in order.steps),
    )


def step_branch(step: StepNode, say: Say, width: int) -> Branch:
    """Return the branch of a step, with its numbers and where they came from."""
    label = step.id if step.index is None else f"{step.id}[{step.index}]"
    return Branch(
        state=step.state.value,
        label=label,
        detail=step.use or "",
        seconds=step.seconds or None,
        notes=_step_notes(step, say, width),
        children=(
            *(step_branch(branch, say, width) for branch in step.steps),
            *(order_branch(order, say, width) for order in step.orders),
        ),
    )


def _order_notes(order: OrderNode, say: Say) -> tuple[str, ...]:
    notes = [say("show-order", order=order.order_id)]
    if order.slot:
        notes.append(say("show-slot", slot=order.slot))
    notes += [say("show-revised", why=why) for why in order.revisions]
    notes += [_refused(each, say) for each in order.refused]
    notes += [say("show-seal", seal=brief_hash(seal)) for seal in order.seals]
    if order.error is not None:
        notes.append(f"{order.error.code}: {one_line(order.error.message, 300)}")
    return tuple(notes)


def _refused(each: RefusedAction, say: Say) -> str:
    rule, request = f"{each.rule}@{brief_hash(each.rule_version)}", brief_hash(each.request_sha256)
    return say("show-refused", rule=rule, use=each.use, step=each.step, request=request)


def _step_notes(step: StepNode, say: Say, width: int) -> tuple[str, ...]:
    room = max(40, width - NOTE_INDENT)
    notes: list[str] = []
    told_below = any(below.result_sha256 == step.result_sha256 for order in step.orders for below in order.steps)
    if step.output is not None and not (told_below and step.result_sha256):
        notes += fill(facts_of(step.output, say), room)
    if step.damaged:
        notes.append(say("show-damaged"))
    sources = [
        f"{say(f'show-{name}')} {brief_hash(value)}"
        for name, value in (
            ("result", step.result_sha256),
            ("query", step.query_sha256),
            ("data", step.data_sha256),
        )
        if value
    ]
    if step.evidence:
        sources.append(say("show-evidence", count=len(step.evidence)))
    if step.attempts > 1:
        sources.append(say("show-attempts", count=step.attempts))
    notes += fill(sources, room)
    notes += [say("show-file", name=name) for name in step.files]
    if step.problem is not None:
        notes.append(f"{step.problem.code}: {one_line(step.problem.message, 300)}")
    if step.asked is not None:
        notes.append(asked_words(step.asked, datetime.now(UTC), say))
    if step.why:
        notes.append(step.why)
    notes += [say("show-waits-for", id=each) for each in step.waiting_for]
    return tuple(notes)
