"""Executions: started, gone on with, cancelled, listed and shown."""

from __future__ import annotations

import getpass
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from agents.employee.root import root_order
from agents.organisation import Organisation, bundle, route
from console.errors import SkillUnclear
from console.parameters import read_values
from console.ports import Watch
from console.resources import Resources
from console.standing import events_of, outcome_of
from console.tree import tree_of
from console.typed import refused
from console.views import ExecutionOutcome, ExecutionRow, ExecutionTree, RunOptions
from console.wiring import folder_of
from contracts import (
    ApprovalMode,
    Budget,
    Event,
    ExecutionId,
    ExecutionRequest,
    GovernanceTerms,
    Json,
    Money,
    Name,
    OrderId,
    OrderState,
)
from governance.access import People, Person
from governance.access.people import Role
from memory.buckets import year_fault
from runtime.bus import InProcessBus
from runtime.errors import InvalidArguments, OrganisationFaulty, PermissionRefused, SiliconError
from runtime.executor import ExecutionState, ExecutionView

_STATES = {
    ExecutionState.WAITING: OrderState.WAITING,
    ExecutionState.REQUESTED: OrderState.RUNNING,
    ExecutionState.RUNNING: OrderState.RUNNING,
}


_TYPED = {"goal": "The goal", "idempotency_key": "--key", "language": "--language"}
"""Field of a request → what a person typed for it."""


_SHOWN_OF_GOAL = 200
"""Letters of a goal in an error."""


class Running:
    """What a person does with executions."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def run(self, folder: Path, options: RunOptions, *, watch: Watch) -> ExecutionOutcome:
        """Ask for an execution and run it until it is done, fails or waits; see the port."""
        home = folder_of(folder)
        organisation = (await self._resources.organisations()).read(home)
        person = acting(organisation, options.by)
        request = self.request_for(organisation, options, person)
        return await self.submit(request, organisation, home, watch=watch)

    async def submit(
        self, request: ExecutionRequest, organisation: Organisation, home: Path, *, watch: Watch
    ) -> ExecutionOutcome:
        """Record the request and run it; the same idempotency key is the same execution."""
        await self._try(request, organisation)
        pinned = bundle(home)
        executor, store = await self._resources.executor(), await self._resources.store()
        key = request.idempotency_key
        before = await executor.find(organisation.name, key) if key is not None else None
        sha256 = await store.blobs.put(pinned)
        execution_id = await executor.start(request, sha256, home)
        return await self._run(execution_id, watch, "asked", repeated=execution_id == before)

    def request_for(self, organisation: Organisation, options: RunOptions, person: Person) -> ExecutionRequest:
        """Return the request that the options mean in this organisation."""
        skill = options.skill or _skill_for(options.goal, organisation)
        if skill not in organisation.skills:
            raise _no_skill(f"There is no skill {skill}.", organisation, [])
        try:
            return ExecutionRequest(
                organisation=organisation.name,
                goal=options.goal,
                skill=skill,
                parameters=read_values(options.given, organisation.skills[skill].plan.parameters),
                governance=GovernanceTerms(
                    approval_mode=ApprovalMode.STRICT if options.strict else None, budget=_budget(options)
                ),
                idempotency_key=options.key,
                requested_by=person.id,
                known_at=known_at(organisation, options.at),
                language=options.language or organisation.language,
            )
        except ValidationError as error:
            raise refused(error, _TYPED) from None

    async def follow(self, execution_id: ExecutionId, *, watch: Watch) -> ExecutionOutcome:
        """Stay with an execution that was asked for before; a finished one only gives how it ended."""
        return await self._run(execution_id, watch, "asked", repeated=True)

    async def resume(self, execution_id: ExecutionId, *, watch: Watch) -> ExecutionOutcome:
        """Go on where it stood; see the port."""
        return await self._run(execution_id, watch, "resumed by a person", reopen=True)

    async def cancel(self, execution_id: ExecutionId, *, by: str | None) -> ExecutionOutcome:
        """Cancel the execution; see the port."""
        executor = await self._resources.executor()
        view = await executor.view(execution_id)
        person = may_operate((await self._people(view)).acting(by, getpass.getuser()))
        view = await executor.cancel(execution_id, person.id)
        if view.report is None and view.state is not ExecutionState.RUNNING:
            view = await executor.view(execution_id)
        return await self._outcome(view)

    async def executions(self, *, organisation: str | None, limit: int) -> Sequence[ExecutionRow]:
        """Return executions, newest first."""
        executor, store = await self._resources.executor(), await self._resources.store()
        views = list(await executor.list(organisation=organisation))[::-1][:limit]
        held = {lease.name for lease in await store.leases.live("execution/")}
        return [_row(view, held=str(view.execution_id) in held) for view in views]

    async def show(self, execution_id: ExecutionId) -> ExecutionTree:
        """Return the tree of orders with every step."""
        executor, store = await self._resources.executor(), await self._resources.store()
        view = await executor.view(execution_id)
        organisations = await self._resources.organisations()
        try:
            pinned = (await organisations.pinned(view.organisation_sha256, view.home)).organisation
        except SiliconError:  # what was pinned can no longer be read here, for example its data is gone
            pinned = None
        return await tree_of(store, view, await self._outcome(view), pinned)

    async def events(self, execution_id: ExecutionId | None, *, after: int, follow: bool) -> AsyncIterator[Event]:
        """Give events of one execution or of all; see the port."""
        store = await self._resources.store()
        if not follow:
            async for event in self._so_far(execution_id, after):
                yield event
            return
        async for event in InProcessBus(store.ledger).subscribe("*", after=after):
            if execution_id is None or event.execution_id == execution_id:
                yield event
            if execution_id is not None and event.subject == execution_id and event.type == "execution.finished":
                return

    async def _so_far(self, execution_id: ExecutionId | None, after: int) -> AsyncIterator[Event]:
        store = await self._resources.store()
        if execution_id is not None:
            async for event in events_of(store, execution_id, after=after):
                yield event
            return
        while page := await store.ledger.read_all(after=after):
            for event in page:
                yield event
            after = page[-1].position

    async def _run(
        self, execution_id: ExecutionId, watch: Watch, reason: str, *, reopen: bool = False, repeated: bool = False
    ) -> ExecutionOutcome:
        executor, store = await self._resources.executor(), await self._resources.store()
        await self._readable(await executor.view(execution_id))
        with _watched(store.ledger.on_commit, execution_id, watch):
            await executor.run(execution_id, reason, reopen=reopen)
        return await self._outcome(await executor.view(execution_id), repeated=repeated)

    async def _people(self, view: ExecutionView) -> People:
        """Return who may cancel: the people of now, or of the start where org.yaml cannot be read."""
        try:
            return await self._resources.people_of(view)
        except OrganisationFaulty:
            return await self._resources.people_at_the_start(view)

    async def _readable(self, view: ExecutionView) -> None:
        """Return when an execution that is to go on can be worked on here; raise why not, before anything changes."""
        if view.report is None or view.state is ExecutionState.STOPPED:
            organisations = await self._resources.organisations()
            await organisations.pinned(view.organisation_sha256, view.home)

    async def _outcome(self, view: ExecutionView, *, repeated: bool = False) -> ExecutionOutcome:
        store, desk = await self._resources.store(), await self._resources.questions()
        return await outcome_of(
            store,
            view,
            desk,
            home=self._resources.settings.home,
            people=self._resources.people_to_show,
            repeated=repeated,
        )

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


def acting(organisation: Organisation, by: str | None) -> Person:
    """Return who asks; raise PermissionRefused for somebody who may only look."""
    return may_operate(organisation.people.acting(by, getpass.getuser()))


def may_operate(person: Person) -> Person:
    """Return the person, who may start and stop executions; raise PermissionRefused otherwise."""
    if person.roles <= {Role.VIEWER}:
        raise PermissionRefused(
            f"{person.name} may look but not act. That takes the role operator, approver or admin; --as says who acts.",
            person=person.id,
        )
    return person


def known_at(organisation: Organisation, at: datetime | None) -> datetime | None:
    """Return the moment in UTC: the one that was given, in local time where it has no zone, or the organisation's.

    Raises:
        InvalidArguments: the year cannot be meant.
    """
    fault = year_fault(at) if at is not None else None
    if at is not None and fault is not None:
        raise InvalidArguments(f"{at.isoformat()} cannot be looked at: {fault}.", at=at.isoformat())
    if at is None:
        at = organisation.stands_at
    elif at.tzinfo is None:
        at = at.replace(tzinfo=organisation.zone)
    return at.astimezone(UTC) if at else None


@contextmanager
def _watched(on_commit: object, execution_id: ExecutionId, watch: Watch) -> Iterator[None]:
    def see(events: Sequence[Event]) -> None:
        for event in events:
            if event.execution_id == execution_id:
                watch(event)

    stop = on_commit(see) if callable(on_commit) else None
    try:
        yield
    finally:
        if stop is not None:
            stop()


def _skill_for(goal: str, organisation: Organisation) -> Name:
    found = route(goal, organisation.skills.values())
    flat = " ".join(goal.split())
    shown = flat if len(flat) <= _SHOWN_OF_GOAL else f"{flat[:_SHOWN_OF_GOAL]}…"
    if found.skill is not None:
        return found.skill
    tied = [fit.skill for fit in found.tied]
    if tied:
        raise _no_skill(f"Several skills fit “{shown}” equally well: {', '.join(tied)}.", organisation, tied)
    raise _no_skill(f"No skill of {organisation.name} fits “{shown}”.", organisation, [])


def _no_skill(what: str, organisation: Organisation, tied: Sequence[Name]) -> SkillUnclear:
    shown = [organisation.skills[name] for name in tied or sorted(organisation.skills)]
    listed = "\n".join(f"  {skill.name}: {skill.when_to_use or skill.description}" for skill in shown)
    names: list[Json] = [skill.name for skill in shown]
    return SkillUnclear(f"{what} Name one with --skill:\n{listed}", skills=names)


def _budget(options: RunOptions) -> Budget:
    given = options.budget
    faults: list[Json] = []
    try:
        return Budget(
            seconds=float(given["seconds"]) if "seconds" in given else None,
            steps=int(given["steps"]) if "steps" in given else None,
            tokens=int(given["tokens"]) if "tokens" in given else None,
            money=Money.parse(given["money"]) if "money" in given else None,
        )
    except ValueError:
        faults = [f"{name}={value}" for name, value in given.items()]
    raise InvalidArguments(
        f"The budget cannot be read ({', '.join(map(str, faults))}). Seconds, steps and tokens are numbers above zero, "
        "money is written as '5 USD'.",
        faults=faults,
    )


def _row(view: ExecutionView, *, held: bool) -> ExecutionRow:
    report = view.report
    return ExecutionRow(
        execution_id=view.execution_id,
        organisation=view.request.organisation,
        goal=view.request.goal,
        skill=view.request.skill,
        state=report.state if report else _STATES.get(view.state, OrderState.RUNNING),
        requested_by=view.request.requested_by,
        requested_at=view.requested_at,
        seconds=report.usage.seconds if report else None,
        waiting_for=tuple(map(str, view.waiting_for)),
        held=held,
    )
