"""What a face needs of the product. `console.application` implements it; the faces know nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from console.ports_alerts import AlertsPort
from console.ports_approvals import Approvals
from console.ports_archives import Archives
from console.ports_auto_memory import AutoMemoryPort
from console.ports_beats import BeatsPort
from console.ports_bridges import Bridges
from console.ports_calibration import Calibrations
from console.ports_cluster import Cluster
from console.ports_costs import CostsPort
from console.ports_deliveries import Deliveries
from console.ports_evidence import Evidence
from console.ports_executions import Executions, Watch
from console.ports_knowledge import KnowledgePort
from console.ports_letters import Letters
from console.ports_memories import MemoriesPort
from console.ports_memory_files import MemoryFilesPort
from console.ports_metrics import MetricsPort
from console.ports_products import ProductsPort
from console.ports_profile import ProfilePort
from console.ports_prompts import Prompts
from console.ports_remote import Remote
from console.ports_rules import Rules
from console.ports_users import SigningIn
from console.views import MetricReading
from console.views_sensors import SensorRow, SensorsOutcome
from console.views_system import AuditResult, DatabaseStatus, Examined  # fmt: skip
from contracts import MetricDefinition
from runtime.settings.load import Settings


class Application(
    Executions,
    Approvals,
    Remote,
    SigningIn,
    Archives,
    Evidence,
    Cluster,
    Bridges,
    Letters,
    AutoMemoryPort,
    KnowledgePort,
    ProductsPort,
    ProfilePort,
    MemoriesPort,
    MemoryFilesPort,
    Prompts,
    Rules,
    CostsPort,
    AlertsPort,
    MetricsPort,
    Calibrations,
    BeatsPort,
    Deliveries,
    Protocol,
):
    """The product as its faces use it.

    Opening one touches neither database nor folder: each method opens what it needs, so that `doctor` and `db` work on
    a broken database. Every error is a SiliconError. A method that runs an execution and is cancelled (Ctrl-C) releases
    the lease and leaves it resumable. Deadlines that passed are judged before cards or executions are read or run.
    """

    # metrics and sensors
    async def metrics(self, folder: Path) -> Sequence[MetricDefinition]:
        """Return the metrics of an organisation, by name."""
        ...

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
        """Return values of one metric as known at `at`, oldest bucket first: one bucket, or the `last` ones.

        Raises:
            InvalidArguments: no such metric, grain or dimension.
        """  # fmt: skip
        ...

    async def sensors(self, folder: Path) -> Sequence[SensorRow]:
        """Return the sensors of an organisation, by name."""
        ...

    async def run_sensors(
        self, folder: Path, names: Sequence[str], *, at: datetime | None, start: bool, by: str | None, watch: Watch
    ) -> SensorsOutcome:
        """Let sensors look at what is known at `at`, all of them when `names` is empty.

        With `start`, each goal that is raised is run until it is done, failed or waits.
        """
        ...

    # the ledger
    async def verify(self) -> AuditResult:
        """Check every chain and payload."""
        ...

    async def database(self) -> DatabaseStatus:
        """Tell which database this is and how its schema stands; changes nothing."""
        ...

    async def upgrade(self) -> DatabaseStatus:
        """Bring the schema to this program's version."""
        ...

    async def doctor(self, folder: Path | None) -> Sequence[Examined]:
        """Look at what `console.doctor.examine` does, and at database, sandbox, a folder's data; never raises."""
        ...


class OpenApplication(Protocol):
    """How a face gets its application: `console.application.open_application`."""

    def __call__(self, settings: Settings) -> AbstractAsyncContextManager[Application]:
        """Return the application; leaving the context closes what it opened."""
        ...
