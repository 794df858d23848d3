"""One request to a model: its time, its signs of life, and what it took, also where no answer came."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from contracts import Problem, Usage
from runtime.engine.budget import deadline_passed
from runtime.engine.react.costs import free_fact
from runtime.engine.react.signs import Signs
from runtime.engine.react.talk import Talk
from runtime.errors import CapabilityFailed, CapabilityTimeout, SiliconError
from runtime.ledger.port import NewEvent
from runtime.model.course import ASKED, QUEUED
from runtime.model.port import ModelAnswer, ModelRequest

_log = logging.getLogger(__name__)


class Attempt:
    """A request that is made once. Waiting for its turn is not its time: only the order's deadline ends that."""

    def __init__(self, talk: Talk, request: ModelRequest) -> None:
        """Take over a request that was not made yet."""
        self._talk = talk
        self._request = request
        self._course = request.course
        self._signs = Signs(talk, request)
        self._limit_s = talk.step.timeout_s or talk.run.settings.step_timeout_s
        self._limit = asyncio.timeout(None)
        self._left_s = self._limit_s
        self._waiting = False
        self._began = 0.0
        self._seconds = 0.0

    @property
    def usage(self) -> Usage:
        """What it took of tokens and money, at its worst where nobody knows, and its seconds."""
        return self._course.took.model_copy(update={"seconds": self._seconds, "steps": 0})

    @property
    def seconds(self) -> float:
        """How long it took, without what it waited for its turn."""
        return self._seconds

    @property
    def was_charged(self) -> bool:
        """Whether anything was taken by it, or may have been."""
        return self._course.took != Usage()

    def unanswered(self, problem: Problem | None) -> NewEvent:
        """Return the event of a request that ended without an answer; without a problem it was stopped."""
        role = self._request.role
        facts: dict[str, Any] = {"usage": self.usage.to_json(), "role": role, **free_fact(self._talk, role, self.usage)}
        if self._course.is_worst_case:
            facts["worst_case"] = True
        if problem is None:
            return NewEvent("model.stopped", self._talk.event(**facts))
        return NewEvent("model.unreachable", self._talk.event(problem=problem.to_json(), **facts))

    async def answer(self) -> ModelAnswer:
        """Return what the model answers.

        Raises:
            BudgetExceeded: the order's deadline passed while it waited for its turn.
            CapabilityTimeout: it took longer than the step may.
            SiliconError: what the model raises; what no model may raise becomes CapabilityFailed.
        """
        self._began, self._course.watch = time.perf_counter(), self._moved
        try:
            return await self._within_its_time()
        finally:
            self._signs.end()
            self._course.watch = None
            self._seconds = max(0.0, time.perf_counter() - self._began - self._course.waited_s)

    async def _within_its_time(self) -> ModelAnswer:
        model, step = self._talk.run.model, self._talk.step
        assert model is not None
        try:
            async with self._limit:
                self._moved(waiting=False)
                return await model.ask(self._request)
        except SiliconError:
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and self._limit.expired():
                raise self._too_long() from None
            _log.error("model failed in a way it should not", extra={"step": step.id}, exc_info=error)
            raise CapabilityFailed(
                f"The model of step {step.id} failed: {type(error).__name__}: {error}. The log holds the whole of it.",
                step=step.id, kind=type(error).__name__,
            ) from error  # fmt: skip

    def _moved(self, waiting: bool) -> None:
        """Let its time stand still while it waits, and go on afterwards."""
        if self._limit.expired():
            return
        now = asyncio.get_running_loop().time()
        self._waiting = waiting
        if waiting:
            at = self._limit.when()
            self._left_s = self._left_s if at is None else at - now
            patience_s = self._until_deadline_s()
            self._limit.reschedule(None if patience_s is None else now + patience_s)
        else:
            self._limit.reschedule(now + self._left_s)
        self._signs.now_at(QUEUED if waiting else ASKED)

    def _until_deadline_s(self) -> float | None:
        run = self._talk.run
        if run.order.deadline is None:
            return None
        return max(0.0, (run.order.deadline - run.clock.now()).total_seconds())

    def _too_long(self) -> SiliconError:
        run, step = self._talk.run, self._talk.step
        if self._waiting and run.order.deadline is not None:
            return deadline_passed(run.order.deadline, max(run.clock.now(), run.order.deadline))
        return CapabilityTimeout(
            f"The model took longer than {self._limit_s:g} s in step {step.id} and was stopped.",
            step=step.id, timeout_s=self._limit_s,
        )  # fmt: skip
