"""Asking the model: guards before, one commit after, and nothing asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from contracts import ErrorCategory, Problem
from runtime.canonical import sha256, to_bytes
from runtime.engine.budget import enforce_deadline
from runtime.engine.drawn import ANSWER
from runtime.engine.outcome import Stop
from runtime.engine.react.costs import free_fact, reserve_answer
from runtime.engine.react.fitting import fitting_request
from runtime.engine.react.killed import count_killed
from runtime.engine.react.messages import prompt_of, request_of, request_sha256
from runtime.engine.react.naming import name_of
from runtime.engine.react.requesting import Attempt
from runtime.engine.react.state import Turn
from runtime.engine.react.talk import Talk, take_in
from runtime.engine.retry import backoff
from runtime.errors import InvalidArguments, LedgerError, NetworkFault, SiliconError
from runtime.ledger.port import NewEvent
from runtime.model.answers.recovery import AS_TEXT
from runtime.model.course import Course
from runtime.model.port import Ending, ModelAnswer, ModelRequest, ToolCall

_BESIDE = ("asked", "dropped", "usage_estimated")
"""Facts of our own that stand in the event of a long answer as well, and are short whatever the endpoint says."""


class IterationLimit(SiliconError):
    """The model was asked as often as it may be, and the step is not done."""

    code = "ITERATION_LIMIT"
    category = ErrorCategory.BUSINESS


async def ask(talk: Talk) -> None:
    """Ask the model for its next answer and store it whole, before anything is done with it.

    Raises:
        BudgetExceeded, IterationLimit: it is not asked any more.
        InvalidArguments: it was told what was wrong with its calls as often as it may be.
        NetworkFault: it cannot be reached.
    """
    run, request = talk.run, None
    _guard(talk)
    while True:
        enforce_deadline(run.order.deadline, run.clock.now())
        request = await fitting_request(talk) if request is None else replace(request, course=Course())
        try:
            await reserve_answer(talk, request)
            wait_s = await _ask_once(talk, request)
        finally:
            run.account.give_back(talk.unit, ANSWER)
        if wait_s is None:
            return
        await _enforce(talk, request)  # else it would wait for nothing
        await run.pause(wait_s)


async def settle_killed(talk: Talk) -> None:
    """Count the request that was under way when an earlier process was killed, if there was one."""
    if talk.run.goes_on:
        await count_killed(talk, _request(talk))


async def _enforce(talk: Talk, request: ModelRequest) -> None:
    """Return when the limits still let the request be made; raise BudgetExceeded otherwise."""
    await reserve_answer(talk, request)
    talk.run.account.give_back(talk.unit, ANSWER)


def _request(talk: Talk) -> ModelRequest:
    return request_of(talk, prompt_of(talk))


async def _ask_once(talk: Talk, request: ModelRequest) -> float | None:
    """Store the answer and return None, or how long to wait before the next try; what was lost is counted."""
    run, attempt = talk.run, Attempt(talk, request)
    try:
        answer = await run.interruptible(attempt.answer(), grace_s=0)
    except (Stop, asyncio.CancelledError):
        with suppress(LedgerError):  # whoever stops it is not kept from that
            if attempt.was_charged:
                await run.journal.write_ahead(attempt.unanswered(None))
        raise
    except NetworkFault as fault:
        problem = fault.problem()
        wait_s = _wait_s(talk, problem)
        if wait_s is None:
            await run.journal.write_ahead(attempt.unanswered(problem))
            raise
        await run.journal.write(attempt.unanswered(problem), *run.slow_down(problem))
        return wait_s
    except SiliconError as error:
        if attempt.was_charged:
            await run.journal.write_ahead(attempt.unanswered(error.problem()))
        raise
    await _store(talk, request, answer, seconds=attempt.seconds)
    return None


def _wait_s(talk: Talk, problem: Problem) -> float | None:
    """Return how long to wait before the model is asked again; None where it is not."""
    run, step, tried = talk.run, talk.step, talk.react.unreachable
    most = run.settings.network_retries if step.retries is None else step.retries
    if tried >= most:
        return None
    return backoff(tried, problem, run.settings, patience_s=max(0.0, run.patience_s))


def _guard(talk: Talk) -> None:
    run, step, turns = talk.run, talk.step, talk.react.counted
    settings = run.settings
    most = settings.iterations if step.iterations is None else step.iterations
    if len(turns) >= most:
        raise IterationLimit(
            f"Step {step.id} is not done after {len(turns)} answers of the model, and more are not allowed "
            f"(iterations). What was done is kept; `silicon resume` goes on from here.",
            step=step.id, most=most,
        )  # fmt: skip
    plan = run.order.plan
    most = max(settings.plan_iterations, settings.iterations * max(len(list(plan.all_steps())), run.view.size))
    asked = run.view.answers
    if asked >= most:
        raise IterationLimit(
            f"The plan is not done after {asked} answers of models, and {most} is the limit of a plan of this size. "
            f"What was done is kept.",
            step=step.id, most=most,
        )  # fmt: skip
    faults = _faults_in_a_row(turns)
    if len(faults) > settings.invalid_arguments_retries:
        raise InvalidArguments(
            f"The model was told {settings.invalid_arguments_retries} times what is wrong with its calls in step "
            f"{step.id}, and called wrongly again: {faults[0]}",
            step=step.id,
        )


def _faults_in_a_row(turns: list[Turn]) -> list[str]:
    """Return what was wrong in the last answers that followed each other with a call that cannot be made."""
    found: list[str] = []
    for turn in reversed(turns):
        wrong = [call.problem.message for call in turn.calls if call.problem and _cannot_be_made(call.problem.category)]
        if not wrong:
            break
        found.append(wrong[0])
    return found


def _cannot_be_made(category: ErrorCategory) -> bool:
    return category is ErrorCategory.INVALID_ARGUMENTS


async def _store(talk: Talk, request: ModelRequest, answer: ModelAnswer, *, seconds: float) -> None:
    run, number = talk.run, talk.react.number + 1
    calls = [_told(talk, call, f"{number}:{place}") for place, call in enumerate(answer.calls, 1)]
    whole: Any = run.journal.redact({"content": answer.content, "calls": calls, "facts": dict(answer.facts)})
    usage = answer.usage.model_copy(update={"seconds": seconds, "steps": 0})
    data = talk.event(
        answer=number, role=request.role, request_sha256=request_sha256(request), usage=usage.to_json(),
        **free_fact(talk, request.role, usage), **whole,
    )  # fmt: skip
    if talk.squeeze:
        data["squeezed"] = int(talk.squeeze)
    if not answer.facts.get("usage_estimated"):
        run.gauge.took(name_of(talk), answer.usage.tokens_in)
    if answer.ending is not Ending.DONE:
        data["ending"] = answer.ending.value
    text, blobs = to_bytes(whole), []
    if len(text) > run.settings.inline_output:  # long, the whole answer is a blob and the event names its calls only
        data["answer_sha256"], data["content"] = sha256(text), ""
        data["facts"] = _beside(whole["facts"])
        data["calls"] = [{name: each[name] for name in each if name != "arguments"} for each in whole["calls"]]
        blobs.append(text)
    await run.journal.write(NewEvent("model.answered", data), blobs=blobs)
    last = talk.react.last
    assert last is not None
    if blobs:
        take_in(last, whole)


def _beside(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the event of a long answer keeps, for corrections are counted without reading blobs."""
    kept = {name: facts[name] for name in _BESIDE if name in facts}
    return {**kept, "faults": [AS_TEXT]} if AS_TEXT in (facts.get("faults") or ()) else kept


def _told(talk: Talk, call: ToolCall, place: str) -> dict[str, Any]:
    """Return a call as the ledger keeps it: under our id, beside the one that the model gave."""
    index = "-" if talk.unit.index is None else talk.unit.index
    read = isinstance(call.arguments, dict) and not call.fault
    fault = call.fault or ("" if read else f"they are {type(call.arguments).__name__} where an object was due")
    told = {"id": f"{talk.step.id}:{index}:{place}", "given_id": call.id, "name": call.name}
    return {**told, "arguments": call.arguments if read else {}, **({"fault": fault} if fault else {})}
