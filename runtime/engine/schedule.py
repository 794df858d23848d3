"""The steps of a plan in the order of what they need, independent ones at the same time."""

from __future__ import annotations

import asyncio
import heapq
from functools import partial

from contracts import Step
from runtime.engine.branches import steps_in
from runtime.engine.context import Run
from runtime.engine.graph import dependencies
from runtime.engine.outcome import End, Outcome
from runtime.engine.pace import Sign
from runtime.engine.parallel import stop_all
from runtime.engine.recall import recall
from runtime.engine.states import UnitState
from runtime.engine.step import settle_step
from runtime.engine.turns import Turn, turns_of_steps

_OVER = (End.DONE, End.SKIPPED)


async def carry_out_plan(run: Run) -> dict[str, Outcome]:
    """Return how each step ended that could be begun; those that wait for something unfinished are left out.

    A step begins as soon as everything it needs is done or skipped and the plan's way to dispatch leaves room, in
    declared order among those that could. When one fails, a limit is reached or the execution is cancelled, nothing new
    begins and what runs is waited for.
    """
    return await _Schedule(run).carry_out()


class _Schedule:
    """Which steps are ready, running and over."""

    def __init__(self, run: Run) -> None:
        self._run = run
        steps = run.order.plan.steps
        self._steps = {step.id: step for step in steps}
        turns = turns_of_steps(run.view, steps)
        self._place = {step.id: (turns[step.id], number) for number, step in enumerate(steps)}
        """Step → its turn among those that are ready, and then the order of the plan."""
        needs = dependencies(run.order.plan)
        self._missing = {name: len(needed) for name, needed in needs.items()}
        self._followers: dict[str, list[str]] = {name: [] for name in needs}
        for name, needed in needs.items():
            for earlier in needed:
                self._followers[earlier].append(name)
        self._ready = [place for name, place in self._place.items() if not self._missing[name]]
        heapq.heapify(self._ready)
        self._running: dict[asyncio.Future[Outcome], Step] = {}
        self._outcomes: dict[str, Outcome] = {}

    async def carry_out(self) -> dict[str, Outcome]:
        try:
            while self._ready or self._running:
                alone = self._begin_ready()
                if alone is not None:
                    self._settle(alone, await settle_step(self._run, alone, self._run.scope()))
                    continue
                if not self._running:
                    break
                with self._run.flow.side_by_side(len(self._running)):
                    done, _ = await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=lambda task: self._place[self._running[task].id]):
                    self._settle(self._running.pop(task), task.result())
        finally:
            await stop_all(list(self._running))
        return self._outcomes

    def _begin_ready(self) -> Step | None:
        """Begin what may begin; return the step that has no company, for which a task of its own would be waste."""
        steps = self._run.order.plan.steps
        while self._ready and (len(self._running) < self._run.flow.pace.width or self._goes_on):
            step = steps[self._ready[0][1]]
            settled = self._settled_before(step)
            if settled is None and self._run.stopping:
                self._run.account.wake()  # nothing comes back from what does not go on
                return None
            heapq.heappop(self._ready)
            if settled is not None:
                self._run.account.passed_over((part.id for part in steps_in(step)), None)
                self._settle(step, settled)
            elif self._running or (self._ready and (self._run.flow.pace.width > 1 or self._goes_on)):
                self._running[asyncio.ensure_future(settle_step(self._run, step, self._run.scope()))] = step
            else:
                return step
        return None

    @property
    def _goes_on(self) -> bool:
        """Whether the first that is ready does not ask for room: it is over, or was in progress and holds something."""
        return bool(self._ready) and self._ready[0][0] <= Turn.HOLDS

    def _settled_before(self, step: Step) -> Outcome | None:
        """Return the outcome of a step that an earlier run settled, without fetching what it gave."""
        match self._run.view.unit(step.id).state:
            case UnitState.DONE:
                fetch = partial(recall, self._run.view, self._run.blobs, step)
                self._run.outputs.keep(step.id, fetch)
                return Outcome(End.DONE)
            case UnitState.SKIPPED:
                return Outcome(End.SKIPPED)
        return None

    def _settle(self, step: Step, outcome: Outcome) -> None:
        self._outcomes[step.id] = outcome
        if outcome.closes:
            self._run.close()
        if outcome.end not in _OVER:
            return
        if not self._run.outputs.kept(step.id):
            self._run.outputs[step.id] = outcome.output
            if outcome.end is End.DONE:
                self._run.flow.pace.take(Sign.SUCCESS)
        for name in self._followers[step.id]:
            self._missing[name] -= 1
            if not self._missing[name]:
                heapq.heappush(self._ready, self._place[name])
