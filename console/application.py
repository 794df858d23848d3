"""The product as its faces use it: one object over all rooms."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from agents.organisation import check
from console.archiving import Archiving
from console.bridging import Bridging
from console.budgets import NO_BUDGET
from console.clustering import Clustering
from console.deciding import Deciding
from console.events import events_in
from console.evidence import Evidence
from console.keeping import Keeping
from console.listing import Listing
from console.ports import AnyId, Application, Watch
from console.resources import Resources
from console.running import Running
from console.serving import Serving
from console.views import (
    AuditResult,
    CardStanding,
    CheckResult,
    DatabaseStatus,
    Examined,
    ExecutionOutcome,
    ExecutionRow,
    ExecutionTree,
    Fault,
    MetricReading,
    RunOptions,
    SensorRow,
    SensorsOutcome,
    Submitted,
)
from console.watching import Watching
from console.wiring import all_builtin_specs
from contracts import CardId, Event, ExecutionId, Id, MetricDefinition, Question, QuestionId
from runtime.clock import Clock
from runtime.settings.load import Settings


@asynccontextmanager
async def open_application(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Application]:
    """Give the application; leaving the context closes what it opened."""
    resources = Resources(settings, clock)
    try:
        yield SiliconApplication(resources)
    finally:
        await resources.close()


class SiliconApplication(Serving, Archiving, Evidence, Clustering, Bridging):
    """The port `Application`. Deadlines that passed are judged before anything is read or run."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._running = Running(resources)
        self._listing = Listing(resources)
        self._deciding = Deciding(resources)
        self._watching = Watching(resources, self._running)
        self._keeping = Keeping(resources)

    async def check(self, folder: Path) -> CheckResult:
        """Read the folder and return all its faults; runs nothing."""
        report = check(folder, builtin=all_builtin_specs(), tree_depth=self._resources.settings.engine.tree_depth)
        faults = tuple(Fault(fault.file, fault.line, fault.what, fault.hint) for fault in report.faults)
        if faults:
            return CheckResult(folder, None, faults)
        organisation = (await self._resources.organisations()).read(folder)
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
        return await self._listing.executions(organisation=organisation, limit=limit)

    async def show(self, execution_id: ExecutionId) -> ExecutionTree:
        """Return the tree of orders with every step."""
        await self._deciding.judge_deadlines()
        return await self._running.show(execution_id)

    def events(self, execution_id: ExecutionId | None, *, after: int, follow: bool) -> AsyncGenerator[Event, None]:
        """Give events of one execution or of all."""
        return events_in(self._resources, execution_id, after=after, follow=follow)

    async def page(
        self, *, organisation: str | None, before: ExecutionId | None, limit: int
    ) -> Sequence[ExecutionRow]:  # fmt: skip
        """Return executions, newest first."""
        return await self._listing.executions(organisation=organisation, limit=limit, before=before)

    async def row(self, execution_id: ExecutionId) -> ExecutionRow:
        """Return one execution as a list shows it."""
        return await self._listing.row(execution_id)

    async def outcome(self, execution_id: ExecutionId) -> ExecutionOutcome:
        """Return how an execution stands, with what it found and waits for."""
        return await self._listing.outcome(execution_id)

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

    async def cards(self, *, all_: bool) -> Sequence[CardStanding]:
        """Return open cards, the nearest deadline first; with `all_` closed ones too."""
        await self._deciding.judge_deadlines()
        return await self._deciding.cards(all_=all_)

    async def card(self, card_id: CardId) -> CardStanding:
        """Return one card."""
        await self._deciding.judge_deadlines()
        return await self._deciding.card(card_id)

    async def may_decide(self, card_id: CardId, *, by: str | None) -> None:
        """Return when this person may decide the card as it stands now."""
        await self._deciding.may_decide(card_id, by=by)

    async def decide(self, card_id: CardId, *, option: str | None, reason: str, by: str | None) -> CardStanding:
        """Write a decision; carries nothing out."""
        await self._deciding.judge_deadlines()
        return await self._deciding.decide(card_id, option=option, reason=reason, by=by)

    async def questions(self, *, organisation: str | None = None) -> Sequence[Question]:
        """Return open questions, oldest first."""
        return await self._deciding.questions(organisation=organisation)

    async def answer(self, question_id: QuestionId, value: str, *, by: str | None) -> ExecutionId:
        """Write the answer and return the execution that waits for it."""
        return await self._deciding.answer(question_id, value, by=by)

    async def metrics(self, folder: Path) -> Sequence[MetricDefinition]:
        """Return the metrics of an organisation, by name."""
        return await self._watching.metrics(folder)

    async def metric_values(
        self,
        folder: Path,
        name: str,
        *,
        grain: str | None,
        at: datetime | None,
        bucket: str | None,
        where: Mapping[str, str],
        by: Sequence[str],
        last: int,
    ) -> Sequence[MetricReading]:
        """Return values of one metric as known at a moment."""
        return await self._watching.metric_values(
            folder, name, grain=grain, at=at, bucket=bucket, where=where, by=by, last=last
        )

    async def sensors(self, folder: Path) -> Sequence[SensorRow]:
        """Return the sensors of an organisation, by name."""
        return await self._watching.sensors(folder)

    async def run_sensors(
        self, folder: Path, names: Sequence[str], *, at: datetime | None, start: bool, by: str | None, watch: Watch
    ) -> SensorsOutcome:
        """Let sensors look at what is known at a moment."""
        await self._deciding.judge_deadlines()
        return await self._watching.run_sensors(folder, names, at=at, start=start, by=by, watch=watch)

    async def verify(self) -> AuditResult:
        """Check every chain and payload."""
        return await self._keeping.verify()

    async def database(self) -> DatabaseStatus:
        """Tell which database this is and how its schema stands."""
        return await self._keeping.database()

    async def upgrade(self) -> DatabaseStatus:
        """Bring the schema to this program's version."""
        return await self._keeping.upgrade()

    async def doctor(self, folder: Path | None) -> Sequence[Examined]:
        """Look at everything that may stand in the way; never raises."""
        return await self._keeping.doctor(folder)
