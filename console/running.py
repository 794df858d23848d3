"""Executions: started, gone on with, cancelled, listed and shown."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agents.employee.root import root_order
from agents.organisation import Organisation, bundle
from console.asking import acting, may_operate, request_for
from console.branches import require_branch
from console.budgets import NO_BUDGET, read_budget
from console.extending import new_budget, not_stopped
from console.folders import folder_of
from console.following import following
from console.goals import plan_for
from console.listing import outcome_in
from console.ports_executions import Watch
from console.queued import outcome_with_queued
from console.resources import Resources
from console.system_user import system_user
from console.tree import tree_of
from console.views import ExecutionOutcome, ExecutionTree, RunOptions, Submitted
from contracts import (
    ExecutionId,
    ExecutionRequest,
    OrderId,
)
from governance.access import People, Person
from runtime.canonical import sha256
from runtime.errors import ExecutionBusy, NotFound, OrganisationFaulty, SiliconError, StaleWriter
from runtime.executor import ExecutionState, ExecutionView, Executor, refuse_imported
from runtime.executor.presence import servers
from runtime.model.naming import names_in

_CANCEL_S = 5.0
"""How long a cancel that somebody else carries out is waited for."""


class Running:
    """What a person does with executions."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def run(self, folder: Path, options: RunOptions, *, watch: Watch) -> ExecutionOutcome:
        """Ask for an execution and run it until it is done, fails or waits; see the port."""
        submitted = await self._submit(folder, options, here=True)
        return await self._run(submitted.execution_id, watch, "asked", repeated=submitted.repeated)

    async def submit(self, folder: Path, options: RunOptions) -> Submitted:
        """Record a goal; see the port."""
        return await self._submit(folder, options, here=False)

    async def _submit(self, folder: Path, options: RunOptions, *, here: bool) -> Submitted:
        home = folder_of(folder)
        organisations = await self._resources.organisations()
        organisation, pinned = await organisations.current(home)
        person = acting(organisation, options.by)
        plan = await plan_for(options, organisation, self._resources.settings, organisations.skill_choice)
        request = request_for(organisation, options, person, plan)
        may_operate(organisation.people, person, request.skill)
        return await self._record(request, organisation, home, pinned, here=here)

    async def carry_out(
        self, request: ExecutionRequest, organisation: Organisation, home: Path, *, watch: Watch
    ) -> ExecutionOutcome:
        """Record a request and run it; the same idempotency key is the same execution."""
        pinned = await asyncio.to_thread(bundle, home)
        submitted = await self._record(request, organisation, home, pinned, here=True)
        return await self._run(submitted.execution_id, watch, "asked", repeated=submitted.repeated)

    async def follow(self, execution_id: ExecutionId, *, watch: Watch) -> ExecutionOutcome:
        """Stay with an execution that was asked for before; a finished one only gives how it ended."""
        return await self._run(execution_id, watch, "asked", repeated=True)

    async def resume(
        self, execution_id: ExecutionId, *, watch: Watch, by: str | None = None, budget: Mapping[str, str] = NO_BUDGET
    ) -> ExecutionOutcome:
        """Go on where it stood; see the port."""
        if budget:
            await self.request_resume(execution_id, by=by, budget=budget)
        else:
            view = await (await self._resources.executor()).view(execution_id)
            if view.report is None or view.state is ExecutionState.STOPPED:
                await self._operating(view, by)
        return await self.go_on(execution_id, watch=watch)

    async def go_on(self, execution_id: ExecutionId, *, watch: Watch) -> ExecutionOutcome:
        """Go on with what somebody decided or answered; see the port."""
        return await self._run(execution_id, watch, "resumed by a person", reopen=True)

    async def request_resume(
        self, execution_id: ExecutionId, *, by: str | None, budget: Mapping[str, str] = NO_BUDGET
    ) -> None:  # fmt: skip
        """Record that an execution is to go on; see the port."""
        executor = await self._resources.executor()
        view = await executor.view(execution_id)
        person = await self._operating(view, by)
        await self._readable(view)
        if not budget:
            await executor.request_reopening(execution_id, person.id)
            return
        if view.state is not ExecutionState.STOPPED:
            raise not_stopped(view)
        pinned = await (await self._resources.organisations()).pinned(view.organisation_sha256, view.home)
        given = new_budget(view, read_budget(budget), pinned.organisation.budget)
        now = await executor.request_reopening(execution_id, person.id, budget=given)
        if now.request.governance.budget != given:  # somebody else had it go on meanwhile
            raise not_stopped(now)

    async def request_cancel(self, execution_id: ExecutionId, *, by: str | None, branch: str | None = None) -> None:
        """Record that an execution, or one branch of it, is to stop; see the port."""
        executor = await self._resources.executor()
        view = await executor.view(execution_id)
        person = await self._operating(view, by)
        if branch is None:
            await executor.request_cancel(execution_id, person.id)
        elif await require_branch(await self._resources.store(), execution_id, branch):
            await executor.request_branch_cancel(execution_id, branch, person.id)

    async def home_of(self, organisation: str) -> Path:
        """Return the folder of an organisation; see the port."""
        given = (await self._resources.organisations()).given
        if organisation in given:
            return given[organisation]
        store, executor = await self._resources.store(), await self._resources.executor()
        for stream in await store.ledger.newest_streams("execution", organisation=organisation, limit=1):
            return (await executor.view(ExecutionId(stream))).home
        there = f" This server was given {', '.join(sorted(given))}." if given else ""
        raise NotFound(
            f"There is no organisation {organisation} here.{there} Start the server with its folder, or run a goal "
            "of it once.",
            organisation=organisation,
        )

    async def cancel(self, execution_id: ExecutionId, *, by: str | None, branch: str | None = None) -> ExecutionOutcome:
        """Cancel the execution, or one branch of it; see the port."""
        executor = await self._resources.executor()
        view = await executor.view(execution_id)
        person = await self._operating(view, by)
        if branch is None:
            view = await executor.cancel(execution_id, person.id)
        elif await require_branch(await self._resources.store(), execution_id, branch) and view.report is None:
            view = await executor.cancel_branch(execution_id, branch, person.id)
        else:
            return replace(await outcome_in(self._resources, view), branch_ended=True)
        if view.report is None and view.state is not ExecutionState.RUNNING:
            view = await self._cancelled_elsewhere(executor, execution_id)
        return await outcome_in(self._resources, view)

    async def show(self, execution_id: ExecutionId) -> ExecutionTree:
        """Return the tree of orders with every step."""
        executor, store = await self._resources.executor(), await self._resources.store()
        view = await executor.view(execution_id)
        organisations = await self._resources.organisations()
        try:
            pinned = (await organisations.pinned(view.organisation_sha256, view.home)).organisation
        except SiliconError:  # what was pinned can no longer be read here, for example its data is gone
            pinned = None
        outcome = await outcome_with_queued(self._resources, await outcome_in(self._resources, view))
        return await tree_of(store, view, outcome, pinned)

    async def _record(
        self, request: ExecutionRequest, organisation: Organisation, home: Path, pinned: bytes, *, here: bool
    ) -> Submitted:
        """Store the request and its organisation in one commit; `here` is whether this process then works on it."""
        await self._try(request, organisation)
        if here:
            await self._resources.reach()
        executor = await self._resources.executor()
        models = names_in(self._resources.settings.model, organisation.models)
        submitted = await executor.submit(request, sha256(pinned), home, [pinned], models=models)
        return Submitted(submitted.execution_id, submitted.repeated)

    async def _run(
        self, execution_id: ExecutionId, watch: Watch, reason: str, *, reopen: bool = False, repeated: bool = False
    ) -> ExecutionOutcome:
        executor, store = await self._resources.executor(), await self._resources.store()
        await self._readable(await executor.view(execution_id))
        by_others = (await self._resources.organisations()).hosts is not None
        async with following(store, execution_id, watch, by_others=by_others) as follower:
            while not await self._worked_on(executor, execution_id, reason, reopen=reopen):
                await follower.until_free()
                if await self._stands_still(await executor.view(execution_id)):
                    break
                follower.listen()  # whoever had it died or was stopped
        return await outcome_in(self._resources, await executor.view(execution_id), repeated=repeated)

    async def _cancelled_elsewhere(self, executor: Executor, execution_id: ExecutionId) -> ExecutionView:
        """Return the execution once whoever was quicker has cancelled it, or is still at it after a while."""
        async with following(await self._resources.store(), execution_id, lambda event: None) as follower:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CANCEL_S):
                    await follower.until_free()
        return await executor.view(execution_id)

    async def _worked_on(self, executor: Executor, execution_id: ExecutionId, reason: str, *, reopen: bool) -> bool:
        """Whether this process worked on the execution; where servers live, one of them may have been quicker.

        Raises:
            ExecutionBusy: another process works on it, and there is no server.
            StaleWriter: it was taken over, and there is no server.
        """
        try:
            await executor.run(execution_id, reason, reopen=reopen)
        except (ExecutionBusy, StaleWriter):
            if not await servers((await self._resources.store()).leases):
                raise
            return False
        return True

    async def _stands_still(self, view: ExecutionView) -> bool:
        """Whether the execution has ended, or waits for somebody who did not answer yet."""
        if view.state is ExecutionState.WAITING:
            asked = await self._resources.asked()
            return not await asked.settled(view.waiting_for, after=view.last_begun)
        return view.state not in (ExecutionState.REQUESTED, ExecutionState.RUNNING)

    async def _operating(self, view: ExecutionView, by: str | None) -> Person:
        people = await self._people(view)
        return may_operate(people, people.acting(by, system_user()), view.request.skill)

    async def _people(self, view: ExecutionView) -> People:
        """Return who may cancel: the people of now, or of the start where org.yaml cannot be read."""
        try:
            return await self._resources.people_of(view)
        except OrganisationFaulty:
            return await self._resources.people_at_the_start(view)

    async def _readable(self, view: ExecutionView) -> None:
        """Return when an execution that is to go on can be worked on here; raise why not, before anything changes."""
        if view.report is None:
            refuse_imported(view)
        if view.report is None or view.state is ExecutionState.STOPPED:
            organisations = await self._resources.organisations()
            await organisations.pinned(view.organisation_sha256, view.home)

    async def _try(self, request: ExecutionRequest, organisation: Organisation) -> None:
        """Make the root order once for nothing, so that whatever is missing is told before anything is written."""
        root_order(
            request,
            organisation,
            skill=request.skill,
            order_id=OrderId.new(),
            execution_id=ExecutionId.new(),
            trace_id="trial",
            now=self._resources.clock.now(),
        )
