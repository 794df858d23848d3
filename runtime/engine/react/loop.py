"""A step that a model reasons through: ask, do what it says, observe, until it is done.

Every answer and every result is in the ledger before the next thing happens, so the loop starts at the top after any
stop and goes on with whatever the ledger does not have yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from contracts import Json, Problem, Step, Usage
from runtime.canonical import clean
from runtime.capabilities.router import output_fault
from runtime.engine.accept import NotAccepted, OutputFaulty
from runtime.engine.context import Run, clean_data
from runtime.engine.finish import Draft, finish
from runtime.engine.origins import data_hash
from runtime.engine.outcome import Outcome
from runtime.engine.pause import write_pause
from runtime.engine.plausible import Implausible, suspicions
from runtime.engine.react.asking import ask, settle_killed
from runtime.engine.react.beginning import prepare
from runtime.engine.react.calls import carry_out, merged
from runtime.engine.react.condensing import condense_inputs
from runtime.engine.react.control import CONTROL, ReplanAsked, Say, StepBlocked, ending, read_control
from runtime.engine.react.references import original_of
from runtime.engine.react.state import Call, Turn
from runtime.engine.react.talk import Talk, output_of, recall_answers
from runtime.engine.react.unusable import AnswerUnusable, NothingUsable, refuse_unfinished
from runtime.engine.scope import Scope
from runtime.engine.view import Unit
from runtime.errors import InvalidArguments, SiliconError
from runtime.ledger.port import NewEvent
from runtime.model.required import model_required
from runtime.strict_json import read_json
from runtime.texts import in_language

WORDS: Mapping[str, Json] = {"text": "string"}
"""What a step gives whose result is words: they need not come as JSON."""
_FENCED = re.compile(r"^```(?:json)?\s*\n(.*)\n```$", re.DOTALL)


async def reason(run: Run, step: Step, unit: Unit, scope: Scope) -> Outcome:
    """Carry the conversation on to its end, or until people have to answer.

    Raises:
        ModelRequired: no model is configured.
        BudgetExceeded: a limit was reached; the conversation goes on with a larger budget.
        SiliconError: the step failed; the conversation stays, and goes on when the order is reopened.
    """
    if run.model is None:
        raise model_required(step.id)
    await run.journal.flush()  # before anything is paid for
    talk = await prepare(run, step, unit, scope)
    await condense_inputs(talk)
    await recall_answers(run, talk.react)
    await settle_killed(talk)
    while True:
        turn = talk.react.last
        if turn is not None:
            outcome = await _come_of(talk, turn)
            if outcome is not None:
                return outcome
        await run.steps.rest()
        await ask(talk)


async def _come_of(talk: Talk, turn: Turn) -> Outcome | None:
    """Return how the step ends or waits after this answer, or None when the model is to be asked again."""
    pauses = await carry_out(talk, turn)
    if pauses:
        return await write_pause(talk.run, talk.step, talk.unit, merged(pauses))
    if turn.refused is not None or turn.number <= talk.react.since:
        return None
    try:
        refuse_unfinished(turn, talk.step)
        if (last := talk.box.ending(turn)) is not None:
            return await _taken(talk, await output_of(talk.run, last))
        if not turn.calls:
            given = _output_of(talk.step, turn.content)
            return await _taken(talk, await original_of(talk, given, turn.number))
        end = ending(turn)
        return None if end is None else await _ended(talk, turn, end)
    except (OutputFaulty, NotAccepted, AnswerUnusable, InvalidArguments, Implausible) as error:
        await _refuse(talk, turn, error)
        return None


async def _ended(talk: Talk, turn: Turn, call: Call) -> Outcome:
    """Return how the step ends that the model says is over."""
    said = read_control(call, talk.step.gives)
    match said.say:
        case Say.BLOCKED:
            raise StepBlocked(f"The model cannot do step {talk.step.id}: {said.words}", step=talk.step.id)
        case Say.REPLAN:
            raise ReplanAsked(
                f"The model asks for another plan in step {talk.step.id}: {said.words}", step=talk.step.id
            )
    beside = next((other.problem for other in turn.calls if other.failed and other.problem), None)
    if beside is not None:
        raise OutputFaulty(f"It cannot be done yet: a call of the same answer failed: {beside.message}")
    given = said.output if said.output is not None else {}
    return await _taken(talk, await original_of(talk, given, turn.number))


async def _taken(talk: Talk, output: Json) -> Outcome:
    """Judge what the model gives and store the step as done.

    What is odd by the step's own rules is told to the model, once; when it stands by it, a person judges.
    """
    _require_something(talk, output)
    _doubt(talk, output)
    done = [call for call in talk.react.calls if call.result is not None]
    results = [call.result for call in done if call.result is not None]
    undone = any(call.changed_the_world and not _has_way_back(call) for call in done)
    step = talk.step if undone else talk.step.model_copy(update={"compensate": None})
    draft = Draft(
        output,
        started_at=talk.started_at,
        seconds=talk.unit.usage.seconds,
        data_sha256=data_hash(result.rests_on or result.result_sha256 for result in results),
        usage=Usage(steps=1),
        uses=tuple(sorted({call.use for call in done if call.use})),
        happened=talk.react.changed_the_world,
        correctable=True,
    )
    return await finish(talk.run, step, talk.unit, talk.scope, draft)


def _has_way_back(call: Call) -> bool:
    """Whether the effect is taken back by itself: as it says, or by the order that did it."""
    return call.result is not None and bool(call.result.undo or call.result.order_id)


def _require_something(talk: Talk, output: Json) -> None:
    """Refuse a success that holds nothing: no value in it, and where none is declared, no call behind it either."""
    if not isinstance(output, dict) or any(value is not None for value in output.values()):
        return
    if output or not (talk.step.gives or any(talk.react.results)):
        lacking = "no value was given" if output else "no value was given and no call made"
        raise OutputFaulty(
            f"Step {talk.step.id} cannot be done with nothing: {lacking}. "
            f"Do what it asks; if that cannot be done, say so with {CONTROL}: blocked, with the reason.",
            step=talk.step.id,
        )


def _doubt(talk: Talk, output: Json) -> None:
    told = any(turn.refused is not None and turn.refused.code == Implausible.code for turn in talk.react.counted)
    faulty = isinstance(output, dict) and output_fault(talk.step.gives, output)
    if not talk.step.plausible or told or faulty:  # what does not have its form is refused for that
        return
    odd = suspicions(talk.step.plausible, talk.scope.after(talk.step.id, output).values)
    if odd:
        words = " ".join(in_language(message, talk.run.order.language) for message in odd)
        raise Implausible(
            f"The result is odd: {words} Look again. If it is right, give it once more, and a person judges it.",
            step=talk.step.id,
        )


async def _refuse(talk: Talk, turn: Turn, error: SiliconError) -> None:
    """Record that the answer was not taken, which the model is told; raise the error when it was told often enough."""
    told = sum(each.refused is not None and each.refused.code != Implausible.code for each in talk.react.counted)
    if not isinstance(error, Implausible) and told >= talk.run.settings.corrections:
        error.facts["refused_answer"] = (
            turn.number
        )  # the event of the step tells this refusal, which has none of its own
        raise error
    problem: Problem = error.problem()
    data = talk.event(answer=turn.number, problem=problem.to_json())
    await talk.run.journal.write(NewEvent("answer.refused", clean_data(data)))


def _output_of(step: Step, content: str) -> Json:
    """Return what an answer of words gives: its JSON object where the step declares fields, else the words."""
    text = content.strip()
    if not text:
        raise NothingUsable("The answer was empty: neither a tool call nor a result.", step=step.id)
    if not step.gives:
        return {"text": content}
    fenced = _FENCED.match(text)
    try:
        found = read_json(fenced[1] if fenced else text)
    except (ValueError, RecursionError) as error:
        if step.gives == WORDS:
            return {"text": content}
        raise OutputFaulty(
            f"The output of step {step.id} must be a JSON object with {', '.join(step.gives)}; the answer is no JSON: "
            f"{error}.",
            step=step.id,
        ) from None
    if not isinstance(found, dict) and step.gives == WORDS:
        return {"text": content}
    if not isinstance(found, dict):
        raise OutputFaulty(f"The output of step {step.id} must be a JSON object.", step=step.id)
    return clean(found)
