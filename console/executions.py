"""Executions as the faces use them, apart from the rest of the product, which takes longer to import."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agents.organisation import check, load
from console.budgets import NO_BUDGET
from console.deciding import Deciding
from console.events import events_in
from console.folders import told_faults
from console.listing import Listing
from console.ports_executions import AnyId, Executions, SeesMessage, Watch
from console.queued import queued_orders
from console.resources import Resources
from console.running import Running
from console.seeing import Seeing
from console.signs import models_asked, streamed_from_now
from console.specs import all_builtin_specs
from console.system_user import system_user
from console.views import (
    CardStanding,
    CheckResult,
    ExecutionOutcome,
    ExecutionRow,
    ExecutionTree,
    ModelAsked,
    RunOptions,
    Submitted,
)
from console.views_cluster import HostsRow, QueuedOrder
from contracts import CardId, Event, ExecutionId, Id, Json, Notification, Question, QuestionId
from governance.notifications import notifications
from runtime.clock import Clock
from runtime.errors import NotFound
from runtime.ledger.port import Fragment
from runtime.settings.load import Settings


@asynccontextmanager
async def open_executions(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Executions]:
    """Give the executions; leaving the context closes what was opened."""
    resources = Resources(settings, clock, onlooker=system_user())
    try:
        yield SiliconExecutions(resources)
    finally:
        await resources.close()


class SiliconExecutions:
    """The port `Executions`. Deadlines that passed are judged before anything is read or run."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._running = Running(resources)
        self._listing = Listing(resources)
        self._deciding = Deciding(resources)
        self._seeing = Seeing(resources, resources.onlooker)

    async def check(self, folder: Path) -> CheckResult:
        """Read the folder and return all its faults; runs nothing."""
        settings = self._resources.settings
        builtin, tree_depth = all_builtin_specs(), settings.engine.tree_depth
        report = check(folder, builtin=builtin, tree_depth=tree_depth)
        faults = told_faults(report)
        if faults:
            return CheckResult(folder, None, faults)
        organisation = load(folder, builtin=builtin, tree_depth=tree_depth, approvals=settings.approval)
        counts = {
            "employees": len(organisation.employees),
            "skills": len(organisation.skills),
            "metrics": len(organisation.metrics),
            "sensors": len(organisation.sensors),
            "rules": len(organisation.rules),
            "people": len(list(organisation.people)),
        }
        return CheckResult(folder, organisation.name, (), counts)

    async def run(self, folder: Path, options: RunOptions, *, watch: Watch) -> ExecutionOutcome:
        """Run a goal until it is done, failed or waits for a person."""
        await self._deciding.judge_deadlines()
        return await self._running.run(folder, options, watch=watch)

    async def submit(self, folder: Path, options: RunOptions) -> Submitted:
        """Record a goal; runs nothing."""
        return await self._running.submit(folder, options)

    async def resume(
        self, execution_id: ExecutionId, *, watch: Watch, by: str | None = None, budget: Mapping[str, str] = NO_BUDGET
    ) -> ExecutionOutcome:
        """Go on where it stood."""
        await self._deciding.judge_deadlines()
        return await self._running.resume(execution_id, watch=watch, by=by, budget=budget)

    async def go_on(self, execution_id: ExecutionId, *, watch: Watch) -> ExecutionOutcome:
        """Go on with what was just decided or answered."""
        await self._deciding.judge_deadlines()
        return await self._running.go_on(execution_id, watch=watch)

    async def request_resume(
        self, execution_id: ExecutionId, *, by: str | None, budget: Mapping[str, str] = NO_BUDGET
    ) -> None:  # fmt: skip
        """Record that an execution is to go on; runs nothing."""
        await self._running.request_resume(execution_id, by=by, budget=budget)

    async def request_cancel(self, execution_id: ExecutionId, *, by: str | None, branch: str | None = None) -> None:
        """Record that an execution, or one branch of it, is to stop; stops nothing itself."""
        await self._running.request_cancel(execution_id, by=by, branch=branch)

    async def home_of(self, organisation: str) -> Path:
        """Return the folder of an organisation."""
        return await self._running.home_of(organisation)

    async def cancel(self, execution_id: ExecutionId, *, by: str | None, branch: str | None = None) -> ExecutionOutcome:
        """Cancel the execution and everything below it, or one branch of it."""
        return await self._running.cancel(execution_id, by=by, branch=branch)

    async def executions(self, *, organisation: str | None, limit: int) -> Sequence[ExecutionRow]:
        """Return executions, newest first."""
        await self._deciding.judge_deadlines()
        return await self._listing.executions(organisation=organisation, limit=limit, sees=self._seeing.sees)

    async def show(self, execution_id: ExecutionId) -> ExecutionTree:
        """Return the tree of orders with every step."""
        await self._deciding.judge_deadlines()
        await self._seeing.require(execution_id)
        return await self._running.show(execution_id)

    async def queued_orders(self, *executions: ExecutionId) -> Sequence[QueuedOrder]:
        """Return which orders of these executions wait for a slot, and why."""
        return await queued_orders(self._resources, executions)

    async def models_asked(self, *orders: str) -> Sequence[ModelAsked]:
        """Return signs of life of steps that ask a model; see the port."""
        return await models_asked(await self._resources.store(), orders)

    def hosts_awaited(self) -> HostsRow | None:
        """Return that hosts of employees do not start so far; see the port."""
        awaited = None if self._resources.hosts is None else self._resources.hosts.awaited
        return None if awaited is None else HostsRow(awaited.tried, awaited.tries, awaited.why)

    def streamed(self, execution_id: ExecutionId | None) -> AsyncGenerator[Fragment, None]:
        """Give what is only streamed, from now on."""
        return streamed_from_now(self._resources, execution_id)

    def events(self, execution_id: ExecutionId | None, *, after: int, follow: bool) -> AsyncGenerator[Event, None]:
        """Give events of one execution or of all."""
        found = events_in(self._resources, execution_id, after=after, follow=follow)
        return found if self._resources.onlooker is None else self._seeing.of_those(found)

    async def horizon(self) -> int:
        """Return the greatest position at or below which events may have been pruned."""
        return await (await self._resources.store()).ledger.horizon()

    async def ids(self, kind: type[AnyId]) -> Sequence[AnyId]:
        """Return all ids of one kind in the ledger, oldest first."""
        store = await self._resources.store()
        return [kind(stream) for stream in await store.ledger.streams(kind.KIND)]

    async def pruned_ids(self, kind: type[AnyId]) -> Sequence[AnyId]:
        """Return all ids of one kind that were pruned from the ledger, oldest first."""
        store = await self._resources.store()
        told = [
            event.data or {}
            for each in await store.ledger.streams("pruning")
            for event in await store.ledger.read(each)
        ]
        streams = sorted(str(data.get("stream")) for data in told)
        return [kind(stream) for stream in streams if stream.startswith(f"{kind.KIND}/")]

    async def execution_of(self, order_or_card: Id) -> ExecutionId:
        """Return the execution that an order, card or question belongs to."""
        return await self._deciding.execution_of(order_or_card)

    async def cards(
        self, *, all_: bool, organisation: str | None = None, after: CardId | None = None, limit: int | None = None
    ) -> Sequence[CardStanding]:
        """Return open cards, the nearest deadline first, or with `all_` all cards, newest first."""
        await self._deciding.judge_deadlines()
        standings = await self._deciding.cards(all_=all_, organisation=organisation, after=after, limit=limit)
        return [each for each in standings if await self._seeing.sees_card(each.card)]

    async def card(self, card_id: CardId) -> CardStanding:
        """Return one card."""
        await self._deciding.judge_deadlines()
        standing = await self._deciding.card(card_id)
        if not await self._seeing.sees_card(standing.card):
            raise NotFound(f"There is no {card_id} here.", id=card_id)
        return standing

    async def may_decide(self, card_id: CardId, *, by: str | None) -> None:
        """Return when this person may decide the card as it stands now."""
        await self._deciding.may_decide(card_id, by=by)

    async def decide(
        self,
        card_id: CardId,
        *,
        option: str | None,
        reason: str,
        by: str | None,
        output: Mapping[str, Json] | None = None,
        via: str | None = None,
        shown_sha256: str | None = None,
    ) -> CardStanding:
        """Write a decision; carries nothing out."""
        await self._deciding.judge_deadlines()
        return await self._deciding.decide(
            card_id, option=option, reason=reason, by=by, output=output, via=via, shown_sha256=shown_sha256
        )

    async def questions(self, *, organisation: str | None = None) -> Sequence[Question]:
        """Return open questions, oldest first."""
        asked = await self._deciding.questions(organisation=organisation)
        return [each for each in asked if await self._seeing.sees_execution(each.execution_id)]

    async def notifications(
        self,
        *,
        organisation: str | None = None,
        person: str | None = None,
        limit: int = 20,
        sees: SeesMessage | None = None,
    ) -> Sequence[Notification]:
        """Return what people were told and need not answer, newest first; of it what `sees` lets be seen."""
        store = await self._resources.store()
        return await notifications(
            store.ledger, organisation=organisation, person=person, limit=limit, sees=sees or self._seeing.sees_message
        )

    async def answer(self, question_id: QuestionId, value: str, *, by: str | None) -> ExecutionId:
        """Write the answer and return the execution that waits for it."""
        return await self._deciding.answer(question_id, value, by=by)
