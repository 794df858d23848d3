"""Calls of a model that somebody else carries out: each becomes an order below, recorded before it begins."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any

from contracts import Json, OrderState, Problem, StatusReport
from runtime.canonical import clean, to_bytes
from runtime.capabilities.port import CapabilitySpec
from runtime.engine.context import clean_data
from runtime.engine.delegation import ChildEnded, delegate_call
from runtime.engine.finish import Draft
from runtime.engine.pause import Pause
from runtime.engine.react.offer import SKILL
from runtime.engine.react.state import Call
from runtime.engine.react.talk import Talk
from runtime.errors import BudgetExceeded, InvalidArguments
from runtime.ledger.port import NewEvent

_PARTIAL = 1_000
"""Characters that a model is told of what an order has that stopped at a limit of its own."""


def is_below(talk: Talk, call: Call) -> bool:
    """Whether the call becomes an order for somebody."""
    try:
        return talk.box.spec_for(call).kind == SKILL
    except InvalidArguments:
        return False


async def have_done(talk: Talk, call: Call, spec: CapabilitySpec, arguments: dict[str, Json]) -> Draft | Pause:
    """Have the skill done that the call names, and return what came back or that people are waited for.

    Raises:
        ChildEnded: the order ended without being done; the model is told why.
        BudgetExceeded: it stopped at a limit of this order; it goes on when there is more.
    """
    does: dict[str, Any] = {"react": None, "tools": (), "skills": (), "must_call": (), "skill": spec.name}
    step = talk.step.model_copy(update={**does, "description": "", "arguments": {}, "compensate": None})
    part = talk.unit.part(call.id)
    try:
        return await delegate_call(talk.run, step, part, talk.scope, arguments)
    except ChildEnded as ended:
        problem = ended.problem()
        if ended.report.asks is None or problem.code != BudgetExceeded.code:
            raise
        spent = {"order_id": str(ended.report.order_id), "usage": ended.spent.to_json()}
        await talk.run.journal.write(NewEvent("budget.settled", clean_data({**part.place, **spent})))
        end_part(talk, call)
        raise BudgetExceeded(problem.message, **problem.facts) from ended


def told_by_skill(talk: Talk, draft: Draft) -> str | None:
    """Return what a skill gave in the words of its own template; None where it has none, or they are too many."""
    if draft.order_id is None or draft.use is None or talk.run.delegate is None:
        return None
    told = talk.run.delegate.told(draft.use, draft.output)
    return told if told and len(told) <= talk.run.settings.inline_output else None


def told_of(ended: ChildEnded) -> tuple[Problem, dict[str, Any]]:
    """Return why the order was not done, in words for the model, and what else its end leaves in the ledger."""
    problem = ended.problem()
    partial = _partial(ended.report)
    if partial:
        problem = problem.model_copy(update={"message": f"{problem.message} It has so far: {partial}"})
    sealed = [str(name) for name in ended.report.evidence]
    left = {"usage": ended.spent.to_json(), "sealed": sealed or None, "happened": ended.happened or None}
    return problem, left


def _partial(report: StatusReport) -> str:
    if report.state is not OrderState.PARTIAL or report.output is None:
        return ""
    text = to_bytes(clean(report.output)).decode()
    return text if len(text) <= _PARTIAL else f"{text[:_PARTIAL]}…"


def end_part(talk: Talk, call: Call) -> None:
    """Return what is left of the call's grant, where it became an order; whoever waits looks at the step first."""
    part = talk.unit.parts.get(call.id)
    if part is not None:
        talk.run.account.go_on(talk.unit)
        talk.run.account.end(part)


class Resting:
    """A chunk of calls: while only orders below are left of it, the step itself rests.

    Then nobody waits for what it holds, for it comes back after theirs only; and a process that is to end need not wait
    for it, because the orders hold back their own steps.
    """

    def __init__(self, talk: Talk, calls: Iterable[Call]) -> None:
        self._run, self._unit = talk.run, talk.unit
        self._below = {call.id for call in calls if is_below(talk, call)}
        self._own = {call.id for call in calls} - self._below
        self._out = False

    async def __aenter__(self) -> Resting:
        self._look()
        return self

    def settled(self, call: Call) -> None:
        """Take note that nothing is left to do for a call now."""
        self._own.discard(call.id)
        self._below.discard(call.id)
        self._look()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._run.account.go_on(self._unit)
        if self._out:
            await self._run.steps.step_in(goes_on=kind is None)

    def _look(self) -> None:
        if self._own or not self._below:
            return
        self._run.account.rest(self._unit)
        if not self._out:
            self._out = True
            self._run.steps.step_out()
