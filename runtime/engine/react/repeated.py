"""Calls that repeat another: shared while that is right, stopped when the model goes round in a ring."""

from __future__ import annotations

from contracts import ErrorCategory
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.context import clean_data
from runtime.engine.react.state import Call, Turn
from runtime.engine.react.talk import Talk
from runtime.errors import BusinessRefusal, InvalidArguments
from runtime.ledger.port import NewEvent


class CallRepeated(BusinessRefusal):
    """The model makes the same call again and again."""

    code = "CALL_REPEATED"


def twin_of(talk: Talk, call: Call) -> Call | None:
    """Return the identical earlier call whose result is this one's too: same tool, same arguments.

    Within one answer that is any call. Over answers it is an effect that took place, in an order below too, or that was
    not allowed: what a model sends again is not done again, and nobody is asked twice. A capability that says
    `every_call` has no twins.
    """
    spec = None if call.fault else _spec(talk, call)
    key = None if spec is None or spec.every_call else talk.key_of(call)
    if spec is None or key is None:
        return None
    effect = talk.box.effect_of(spec).needs_gate
    answer = _answer_of(call)
    for other in talk.react.calls:
        if other is call:
            return None
        if other.same_as is not None or talk.key_of(other) != key:
            continue
        if _answer_of(other) == answer or ((effect or other.changed_the_world) and _stands(other)):
            return other
    return None


async def stop_repeated(talk: Talk, turn: Turn) -> None:
    """Fail the calls that stand in each of the last answers as well, as many as the setting allows; then stop.

    Raises:
        CallRepeated: there is such a call.
    """
    for call in turn.calls:  # the process may have died between this and the end of the step
        if turn.number > talk.react.since and call.failed and call.problem and call.problem.code == CallRepeated.code:
            raise CallRepeated(call.problem.message, **call.problem.facts)
    most = talk.run.settings.same_call_in_a_row
    before = [each for each in talk.react.counted if each.number < turn.number][1 - most :] if most > 1 else []
    if len(before) < most - 1:
        return
    again = [call for call in turn.calls if not call.settled and _counts(talk, call)]
    again = [call for call in again if all(_has(talk, each, call) for each in before)]
    if not again:
        return
    error = CallRepeated(
        f"The model called {again[0].name} with the same arguments {most} times in a row in step {talk.step.id}; it "
        f"goes round in a ring and was stopped.",
        step=talk.step.id, use=talk.box.spec_for(again[0]).name, times=most, happened="no",
    )  # fmt: skip
    failed = [
        NewEvent("call.failed", clean_data(talk.of_call(call, problem=error.problem().to_json(), final=True)))
        for call in again
    ]
    await talk.run.journal.write(*failed)
    raise error


def _counts(talk: Talk, call: Call) -> bool:
    spec = _spec(talk, call)
    return spec is not None and not spec.every_call and not call.fault  # what could not be read is told as that


def _has(talk: Talk, turn: Turn, call: Call) -> bool:
    return any(other.name == call.name and other.arguments == call.arguments for other in turn.calls)


def _stands(call: Call) -> bool:
    """Whether what came of an effect holds for an identical call of a later answer."""
    if call.result is not None or call.happened_below:
        return True
    return call.failed and call.problem is not None and call.problem.category is ErrorCategory.PERMISSION


def _answer_of(call: Call) -> str:
    return call.id.rpartition(":")[0]


def _spec(talk: Talk, call: Call) -> CapabilitySpec | None:
    try:
        return talk.box.spec_for(call)
    except InvalidArguments:
        return None
