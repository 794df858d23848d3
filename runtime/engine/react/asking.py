"""Asking the model: guards before, one commit after, and nothing asked twice."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from contracts import ErrorCategory
from runtime.canonical import sha256, to_bytes
from runtime.engine.budget import enforce_deadline
from runtime.engine.react.costs import ANSWER, reserve_answer
from runtime.engine.react.messages import request_of, request_sha256
from runtime.engine.react.state import Turn
from runtime.engine.react.talk import Talk, take_in
from runtime.engine.retry import backoff
from runtime.errors import CapabilityFailed, CapabilityTimeout, InvalidArguments, NetworkFault, SiliconError
from runtime.ledger.port import NewEvent
from runtime.model.answers.recovery import AS_TEXT
from runtime.model.port import Ending, ModelAnswer, ModelRequest, ToolCall
from runtime.telemetry.guards import Guard

_log = logging.getLogger(__name__)


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
    run, react = talk.run, talk.react
    _guard(talk)
    enforce_deadline(run.order.deadline, run.clock.now())
    limit = run.settings.inline_output
    request = request_of(run.order, talk.step, talk.task, talk.box, react, limit=limit)
    await reserve_answer(talk, request)
    started = time.perf_counter()
    try:
        answer = await _answer(talk, request)
        _count(talk, answer)
        await _store(talk, request, answer, seconds=time.perf_counter() - started)
    finally:
        run.account.give_back(talk.unit, ANSWER)


def _guard(talk: Talk) -> None:
    run, step, turns = talk.run, talk.step, talk.react.counted
    settings = run.settings
    most = settings.iterations if step.iterations is None else step.iterations
    if len(turns) >= most:
        talk.fired(Guard.ITERATION_LIMIT)
        raise IterationLimit(
            f"Step {step.id} is not done after {len(turns)} answers of the model, and more are not allowed "
            f"(iterations). What was done is kept; `silicon resume` goes on from here.",
            step=step.id, most=most,
        )  # fmt: skip
    plan = run.order.plan
    most = max(settings.plan_iterations, settings.iterations * max(len(list(plan.all_steps())), run.view.size))
    asked = run.view.answers
    if asked >= most:
        talk.fired(Guard.ITERATION_LIMIT)
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


async def _answer(talk: Talk, request: ModelRequest) -> ModelAnswer:
    """Ask, again after passing faults; each is in the ledger before the next try."""
    run, step = talk.run, talk.step
    most = run.settings.network_retries if step.retries is None else step.retries
    while True:
        try:
            return await run.interruptible(_bounded(talk, request), grace_s=0)
        except NetworkFault as fault:
            tried, problem = talk.react.unreachable, fault.problem()
            wait_s = backoff(tried, problem, run.settings, patience_s=run.patience_s)
            if tried >= most or wait_s is None:
                raise
            unreachable = NewEvent("model.unreachable", talk.event(problem=problem.to_json()))
            await run.journal.write(unreachable, *run.slow_down(problem))
            await run.pause(wait_s)


async def _bounded(talk: Talk, request: ModelRequest) -> ModelAnswer:
    model, limit_s = talk.run.model, talk.step.timeout_s or talk.run.settings.step_timeout_s
    limit = asyncio.timeout(limit_s)
    assert model is not None
    try:
        async with limit:
            return await model.ask(request)
    except SiliconError:
        raise
    except Exception as error:
        if isinstance(error, TimeoutError) and limit.expired():
            raise CapabilityTimeout(
                f"The model took longer than {limit_s:g} s in step {talk.step.id} and was stopped.",
                step=talk.step.id, timeout_s=limit_s,
            ) from None  # fmt: skip
        _log.error("model failed in a way it should not", extra={"step": talk.step.id}, exc_info=error)
        raise CapabilityFailed(
            f"The model of step {talk.step.id} failed: {type(error).__name__}: {error}. The log holds the whole of it.",
            step=talk.step.id, kind=type(error).__name__,
        ) from error  # fmt: skip


def _count(talk: Talk, answer: ModelAnswer) -> None:
    """Count what it took to understand an answer."""
    faults, dropped = answer.facts.get("faults"), answer.facts.get("dropped")
    if isinstance(faults, list) and AS_TEXT in faults:
        talk.fired(Guard.CALLS_AS_TEXT)
    for each in dropped if isinstance(dropped, list) else ():
        talk.fired(Guard.TOOL_DROPPED, tool=str(each).partition(":")[0])
    if answer.facts.get("usage_estimated"):
        talk.fired(Guard.USAGE_ESTIMATED)


async def _store(talk: Talk, request: ModelRequest, answer: ModelAnswer, *, seconds: float) -> None:
    run, number = talk.run, talk.react.number + 1
    calls = [_told(talk, call, f"{number}:{place}") for place, call in enumerate(answer.calls, 1)]
    whole: Any = run.journal.redact({"content": answer.content, "calls": calls, "facts": dict(answer.facts)})
    usage = answer.usage.model_copy(update={"seconds": seconds, "steps": 0})
    data = talk.event(
        answer=number, role=request.role, request_sha256=request_sha256(request), usage=usage.to_json(), **whole
    )
    if answer.ending is not Ending.DONE:
        data["ending"] = answer.ending.value
    text, blobs = to_bytes(whole), []
    if len(text) > run.settings.inline_output:  # long, the whole answer is a blob and the event names its calls only
        data["answer_sha256"], data["content"], data["facts"] = sha256(text), "", {}
        data["calls"] = [{name: each[name] for name in each if name != "arguments"} for each in whole["calls"]]
        blobs.append(text)
    await run.journal.write(NewEvent("model.answered", data), blobs=blobs)
    last = talk.react.last
    assert last is not None
    if blobs:
        take_in(last, whole)


def _told(talk: Talk, call: ToolCall, place: str) -> dict[str, Any]:
    """Return a call as the ledger keeps it: under our id, beside the one that the model gave."""
    index = "-" if talk.unit.index is None else talk.unit.index
    read = isinstance(call.arguments, dict) and not call.fault
    fault = call.fault or ("" if read else f"they are {type(call.arguments).__name__} where an object was due")
    told = {"id": f"{talk.step.id}:{index}:{place}", "given_id": call.id, "name": call.name}
    return {**told, "arguments": call.arguments if read else {}, **({"fault": fault} if fault else {})}
