"""From a result to a checkpoint: form, plausibility, acceptance, and the one append that makes it last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from contracts import (
    Artifact,
    Compensation,
    EvidenceId,
    EvidenceItem,
    Json,
    OrderId,
    OutputMode,
    PlanDefinition,
    Problem,
    Step,
    Usage,
)
from runtime.bindings import CONFIRMED_BY_PERSON, ONLY_CONFIRMED, resolve
from runtime.canonical import MAX_DEPTH, clean, sha256, to_bytes
from runtime.capabilities.port import CallSeen, NewFile
from runtime.capabilities.router import output_fault
from runtime.context.bus import about
from runtime.engine.accept import Judged, OutputFaulty, require_calls, require_checks
from runtime.engine.context import Run, failed
from runtime.engine.origins import data_hash
from runtime.engine.other_way import forms_of
from runtime.engine.outcome import End, Outcome
from runtime.engine.plausible import suspicions
from runtime.engine.questions import new_question, question_append
from runtime.engine.recall import output_of, read_units
from runtime.engine.result import Result, Undo
from runtime.engine.scope import Scope
from runtime.engine.view import NOTHING, Unit, UnitKey
from runtime.errors import BusinessRefusal, InvalidArguments, SiliconError, VersionConflict
from runtime.ledger.port import Append, NewEvent
from runtime.once import once_for_each

_UNDO_DEPTH = 3
"""How deep inside its event the way back stands: it must fit, for the receipt of the effect is in that event too."""

KEEP, DISCARD = "keep", "discard"


@dataclass(slots=True)
class Draft:
    """What an attempt gave, before anything of it is judged or stored."""

    output: Json
    """Cleaned where it came in: by the router, at the model, in the order below."""
    started_at: datetime | None
    """None for a call that ended just now."""
    seconds: float
    seen: CallSeen | None = None
    evidence: Sequence[EvidenceItem] = ()
    files: Sequence[NewFile] = ()
    events: Sequence[NewEvent] = ()
    appends: Sequence[Append] = ()
    query_sha256: str | None = None
    data_sha256: str | None = None
    usage: Usage | None = None
    """None for one step that only took its time."""
    unpriced: bool = False
    """Whether somebody was paid for it, or may have been, and nobody knows how much."""
    use: str | None = None
    uses: tuple[str, ...] = ()
    order_id: OrderId | None = None
    sealed: tuple[EvidenceId, ...] = ()
    happened: bool = False
    """Whether an effect took place that must not be repeated."""
    confirmed: bool = False
    """Whether only a person's word says so; there is no output to be judged then."""
    told: str | None = None
    """What the model is told in place of it, by a tool of the engine."""
    whole_of: str = ""
    """Reference of the datum that is told so, where that is the whole of it."""
    refs: tuple[str, ...] = ()
    """References that it tells, under which the model may look from then on."""
    correctable: bool = False
    """Whether a fault of the output can be mended by whoever gave it; it is raised then, whatever happened before."""


class Suspicious(BusinessRefusal):
    """A person judged a suspicious result and did not keep it."""

    code = "SUSPICIOUS_RESULT"


async def finish(run: Run, step: Step, unit: Unit, scope: Scope, draft: Draft) -> Outcome:
    """Judge what an attempt gave and store it in one append.

    A suspicious result becomes a question to a person and is held until it is answered.

    Raises:
        OutputFaulty: it does not have the form that the step declares.
        NotAccepted: an acceptance check fails, or a call is missing. An effect that happened is not raised: trying
            again would repeat it, so the step fails for good and its receipt is kept.
    """
    draft.output = run.journal.without_secrets(draft.output)
    result, blobs = result_of(run, step, draft)
    if step.output is OutputMode.NONE and draft.output:
        digest, blob = run.journal.blob_of(draft.output)
        result, blobs = replace(result, given_sha256=digest), [*blobs, blob]
    try:
        if step.compensate is not None:
            result = replace(result, undo=undo_of(step.compensate, scope.after(step.id, draft.output)))
        if not draft.confirmed:
            _require_form(step, draft.output)
            odd = suspicions(step.plausible, scope.after(step.id, draft.output).values)
            if odd:
                return await _hold(run, step, result, draft, odd, index=unit.index, blobs=blobs)
            _require_accepted(step, scope, draft.output, result)
    except SiliconError as error:
        if isinstance(error, Judged):
            error.given = draft.output
        if draft.correctable or not draft.happened:
            raise
        problem = error.problem()
        event = failed(step, unit.index, problem, final=True, result=result.to_data())
        await run.journal.write(event, *draft.events, appends=draft.appends, blobs=blobs)
        return Outcome(End.FAILED, problem=problem)
    kept = partial(_store, run, step, unit.index, result, events=draft.events, blobs=blobs)
    await _with_blackboard(run, step, draft.output, draft.appends, kept)
    return Outcome(End.DONE, _handed_on(step, draft.output))


async def finish_failed(run: Run, step: Step, unit: Unit, scope: Scope, draft: Draft, *, problem: Problem) -> None:
    """Store that an effect happened and that its step failed all the same; the receipt says how it is taken back."""
    draft.output = run.journal.without_secrets(draft.output)
    result, blobs = result_of(run, step, draft)
    result = replace(result, undo=undo_if_told(step, scope, draft.output))
    event = failed(step, unit.index, problem, final=True, result=result.to_data())
    await run.journal.write(event, *draft.events, appends=draft.appends, blobs=blobs)


async def finish_held(run: Run, step: Step, unit: Unit, scope: Scope, *, keep: bool) -> Outcome:
    """Go on with a suspicious result after a person judged it; nothing is called again.

    Raises:
        Suspicious: it is not to be kept.
        NotAccepted: it was kept, but an acceptance check fails.
    """
    held = unit.held
    assert held is not None
    if not keep:
        raise Suspicious(f"A person looked at the result of step {step.id} and did not keep it.", step=step.id)
    output = await output_of(held, run.blobs)
    _require_accepted(step, scope, output, held)
    await _with_blackboard(run, step, output, (), partial(_store, run, step, unit.index, held))
    return Outcome(End.DONE, _handed_on(step, output))


async def finish_whole(
    run: Run, step: Step, index: int | None, output: Json, members: Sequence[tuple[str, UnitKey]]
) -> Outcome:
    """Store that a group or repetition is done; its members hold the outputs, so that nothing is stored twice."""
    await read_units(run.view, [key for _, key in members])
    results = [unit.result for _, key in members if (unit := run.view.known(key)) and unit.result]
    result = Result(
        started_at=min((part.started_at for part in results if part.started_at), default=run.clock.now()),
        seconds=sum(part.seconds for part in results),
        digest=sha256(output),
        data_sha256=data_hash(part.rests_on or part.result_sha256 for part in results),
        members=tuple(name for name, _ in members),
        output=[] if not members else None,
        usage=NOTHING,
    )
    await _store(run, step, index, result)
    return Outcome(End.DONE, output)


async def _store(
    run: Run, step: Step, index: int | None, result: Result,
    *, events: Sequence[NewEvent] = (), appends: Sequence[Append] = (), blobs: Sequence[bytes] = (),
) -> None:  # fmt: skip
    finished = NewEvent("step.finished", {"step": step.id, "index": index, **result.to_data()})
    alone = not (events or appends or blobs or result.happened)
    if alone and index is None and run.is_last(step):
        await run.journal.write_ahead(finished)  # how the order ended follows at once
    else:
        await run.journal.write(*events, finished, appends=appends, blobs=blobs)


def result_of(run: Run, step: Step, draft: Draft) -> tuple[Result, list[bytes]]:
    """Return what is stored of a draft, and the blobs that belong to it."""
    kept = None if step.output is OutputMode.NONE else draft.output
    data = to_bytes(kept)
    apart = len(data) > run.settings.inline_output or step.always_store or step.output is OutputMode.ARTIFACT
    artifacts = tuple(
        Artifact(name=file.name, media_type=file.media_type, sha256=sha256(file.data), size=len(file.data))
        for file in draft.files
    )
    result = Result(
        started_at=draft.started_at,
        seconds=draft.seconds,
        digest=None if kept is draft.output else sha256(draft.output),
        output=None if apart else kept,
        output_sha256=sha256(data) if apart else None,
        query_sha256=draft.query_sha256,
        data_sha256=draft.data_sha256,
        seen=draft.seen,
        shown=draft.evidence,
        artifacts=artifacts,
        usage=draft.usage,
        use=draft.use,
        uses=draft.uses,
        order_id=draft.order_id,
        sealed=draft.sealed,
        happened=draft.happened,
        unpriced=draft.unpriced,
    )
    if apart and _has_readers(run.order.plan):
        result.length = len(data.decode())
        result.about = about(kept, run.context, length=result.length)
    return result, [*([data] if apart else []), *(file.data for file in draft.files)]


@once_for_each(256)
def _has_readers(plan: PlanDefinition) -> bool:
    """Whether a model works on any step of the plan, and may want to know what is stored."""
    return any(form.react is not None for step in plan.all_steps() for form in forms_of(step))


def _require_form(step: Step, output: Json) -> None:
    if not step.gives:
        return
    if not isinstance(output, dict):
        raise OutputFaulty(f"Step {step.id} gave {type(output).__name__} where an object was due.", step=step.id)
    fault = output_fault(step.gives, output)
    if fault is not None:
        why = f" O{ONLY_CONFIRMED[1:]}" if output == {CONFIRMED_BY_PERSON: True} else ""
        raise OutputFaulty(f"The output of step {step.id} is not what its plan declares: {fault}{why}", step=step.id)


def _require_accepted(step: Step, scope: Scope, output: Json, result: Result) -> None:
    if step.must_call:
        require_calls(step.id, step.must_call, {*result.uses, result.use or ""})
    if step.accept:
        require_checks(f"step {step.id}", step.accept, scope.after(step.id, output).values)


async def _hold(
    run: Run, step: Step, result: Result, draft: Draft, odd: list[Any], *, index: int | None, blobs: Sequence[bytes]
) -> Outcome:
    asked = new_question(run, step, text=odd[0], choices=(KEEP, DISCARD))
    told = tuple(text if isinstance(text, str) else next(iter(text.values()), "") for text in odd)
    data = {"step": step.id, "index": index, "ids": [asked.question_id]}
    held = replace(result, suspicious=told).to_data()
    event = NewEvent("step.waiting", {**data, "held": held})
    appends = [*draft.appends, question_append(run, asked)]
    await run.journal.write(*draft.events, event, appends=appends, blobs=blobs)
    return Outcome(End.WAITING)


async def _with_blackboard(
    run: Run, step: Step, output: Json, appends: Sequence[Append], store: Callable[..., Awaitable[None]]
) -> None:
    """Store with the entry of the blackboard, where the step makes one; it goes on top of whatever is there by then.

    When others write the key meanwhile, only the entry is made anew: what the step gave, or did, stands.
    """
    if step.output is not OutputMode.BLACKBOARD:
        return await store(appends=appends)
    while True:
        entry = await run.blackboard.read(step.id)
        version = entry.version if entry else 0
        write = run.blackboard.write(
            step.id, output, expected_version=version, employee=run.order.employee, step=step.id,
            order=run.order.order_id, unseen=True,
        )  # fmt: skip
        before = sum(len(append.events) for append in appends if append.stream == write.stream)
        write = replace(write, expected_version=version + before)
        try:
            return await store(appends=[*appends, write])
        except VersionConflict as conflict:
            if before or conflict.facts.get("stream") != write.stream:
                raise


def undo_of(declared: Compensation, scope: Scope) -> Undo:
    """Return how the effect is taken back, with its bindings filled now, while the values are at hand."""
    arguments = clean(resolve(dict(declared.arguments), scope.values), depth=MAX_DEPTH - _UNDO_DEPTH)
    assert isinstance(arguments, dict)
    return Undo(declared.use, arguments)


def undo_if_told(step: Step, scope: Scope, output: Json) -> Undo | None:
    """Return how the effect is taken back, if the step says so and what the effect gave tells enough for that."""
    if step.compensate is None:
        return None
    try:
        return undo_of(step.compensate, scope.after(step.id, output))
    except InvalidArguments:
        return None


def _handed_on(step: Step, output: Json) -> Json:
    return None if step.output is OutputMode.NONE else output
