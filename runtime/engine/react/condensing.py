"""Asking the model that condenses, within what the order may still spend."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from contracts import Usage
from runtime.engine.react.costs import set_aside
from runtime.engine.react.talk import Talk
from runtime.errors import CapabilityFailed
from runtime.model.port import ModelAnswer, ModelRequest


@dataclass(slots=True)
class Condenser:
    """What condenses for a step's model; whoever lets it tells what that took."""

    talk: Talk
    what: str
    """For what: the id of a call, or of an answer."""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
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
        self._asked += 1
        what, began = f"{self.what}:condensed:{self._asked}", time.perf_counter()
        await set_aside(self.talk, request, what)
        try:
            return await run.interruptible(run.model.ask(request), grace_s=0)
        finally:
            self.usage += request.course.took.model_copy(update={"seconds": 0.0, "steps": 0})
            self.seconds += max(0.0, time.perf_counter() - began - request.course.waited_s)
            run.account.give_back(self.talk.unit, what)
