"""Asking the model that condenses, within what the order may still spend."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from contracts import Materialisation, Usage
from runtime.context.compress import condense
from runtime.engine.context import clean_data
from runtime.engine.react.costs import free_fact, set_aside
from runtime.engine.react.talk import Talk
from runtime.errors import CapabilityFailed
from runtime.ledger.port import NewEvent
from runtime.model.port import ModelAnswer, ModelRequest


async def condense_inputs(talk: Talk) -> None:
    """Have the long inputs condensed that the plan declares as `summary`, each once; what came of it is recorded."""
    settings = talk.run.context
    for number, each in enumerate(talk.inputs):
        if talk.step.material.get(each.name) is not Materialisation.SUMMARY or len(each.text) <= settings.whole_chars:
            continue
        if each.ref not in talk.react.condensed:
            condenser = Condenser(talk, f"input {each.name}")
            found = await condense(each.text, condenser.ask, settings=settings)
            used = condenser.usage.model_copy(update={"seconds": condenser.seconds})
            text = talk.run.journal.redact(found.text)
            free = free_fact(talk, condenser.role, used)
            data = talk.event(ref=each.ref, text=text, why=found.why or None, usage=used.to_json(), **free)
            await talk.run.journal.write(NewEvent("context.condensed", clean_data(data)))
        condensed = replace(each, condensed=talk.react.condensed[each.ref])
        talk.inputs = (*talk.inputs[:number], condensed, *talk.inputs[number + 1 :])


@dataclass(slots=True)
class Condenser:
    """What condenses for a step's model; whoever lets it tells what that took."""

    talk: Talk
    what: str
    """For what: the id of a call, or of an answer."""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    role: str = "summarise"
    """Of the model that was asked."""
    _asked: int = 0

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer of the model.

        Raises:
            BudgetExceeded: what it takes is not there; nothing was asked.
            CapabilityFailed: there is no model.
            SiliconError: what the model raises.
        """
        run = self.talk.run
        if run.model is None:
            raise CapabilityFailed("No model is configured.")
        self._asked, self.role = self._asked + 1, request.role
        what, began = f"{self.what}:condensed:{self._asked}", time.perf_counter()
        await set_aside(self.talk, request, what)
        try:
            return await run.interruptible(run.model.ask(request), grace_s=0)
        finally:
            self.usage += request.course.took.model_copy(update={"seconds": 0.0, "steps": 0})
            self.seconds += max(0.0, time.perf_counter() - began - request.course.waited_s)
            run.account.give_back(self.talk.unit, what)
