"""The product as its faces use it: one object over all rooms."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from console.alerting import Alerting
from console.approving import Approving
from console.archiving import Archiving
from console.beating import Beating
from console.bridging import Bridging
from console.budgeting import Budgeting
from console.calibrating import Calibrating
from console.clustering import Clustering
from console.costing import Costing
from console.deliveries import Deliveries
from console.delivering import Delivering
from console.evidence import Evidence
from console.executions import SiliconExecutions
from console.keeping import Keeping
from console.knowing import Knowing
from console.letters import Letters
from console.measuring import Measuring
from console.memory_filing import MemoryFiling
from console.ports import Application
from console.ports_executions import Watch
from console.profiling import Profiling
from console.prompting import Prompts
from console.remembering import Remembering
from console.remembering_whole import RememberingWhole
from console.resources import Resources
from console.ruling import Ruling
from console.serving import Serving
from console.signing_in import Accounts
from console.system_user import system_user
from console.views import ExecutionOutcome, ExecutionRow, MetricReading
from console.views_sensors import SensorRow, SensorsOutcome
from console.views_system import AuditResult, DatabaseStatus, Examined
from console.watching import Watching
from contracts import ExecutionId, MetricDefinition
from runtime.clock import Clock
from runtime.settings.load import Settings


@asynccontextmanager
async def open_application(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Application]:
    """Give the application; leaving the context closes what it opened."""
    resources = Resources(settings, clock, onlooker=system_user())
    try:
        yield SiliconApplication(resources)
    finally:
        await resources.close()


class SiliconApplication(
    SiliconExecutions,
    Approving,
    Serving,
    Archiving,
    Evidence,
    Clustering,
    Bridging,
    Letters,
    Delivering,
    Knowing,
    MemoryFiling,
    Remembering,
    RememberingWhole,
    Profiling,
    Prompts,
    Ruling,
    Costing,
    Budgeting,
    Alerting,
    Measuring,
    Calibrating,
    Beating,
    Deliveries,
):
    """The port `Application`. Deadlines that passed are judged before anything is read or run."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._watching = Watching(resources, self._running, self._noting)
        self._keeping = Keeping(resources)
        self._accounts = Accounts(resources)

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

    async def metrics(self, folder: Path) -> Sequence[MetricDefinition]:
        """Return the metrics of an organisation, by name."""
        sight = self._seeing.in_folder(folder)
        return [each for each in await self._watching.metrics(folder) if sight.sees(each.owner)]

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
        await self.require_metric(folder, name)
        return await self._watching.metric_values(
            folder, name, grain=grain, at=at, bucket=bucket, where=where, by=by, last=last
        )

    async def sensors(self, folder: Path) -> Sequence[SensorRow]:
        """Return the sensors of an organisation, by name."""
        sight = self._seeing.in_folder(folder)
        return [each for each in await self._watching.sensors(folder) if sight.sees_skill(each.skill)]

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
