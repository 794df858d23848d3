"""What the application from memory tells of metrics, sensors and the heartbeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from console.ports_executions import Watch
from console.views import ExecutionOutcome, MetricReading
from console.views_beats import HeartbeatStanding, WorkCounted
from console.views_metrics import MetricChangeRow, MetricShown, MetricVersionRow
from console.views_sensors import Raised, SensorFailure, SensorRow, SensorsOutcome
from contracts import MetricDefinition, Severity, Signal, SignalId, SignalKind
from runtime.errors import NotFound
from tests.fakes.console_values import EXECUTION, HASH, NOW, metric


class FakeWatching:
    """Part of `FakeApplication`, which holds these fields."""

    asked: list[tuple[str, Any]]
    outcome: ExecutionOutcome
    failed_sensors: tuple[SensorFailure, ...]

    async def metrics(self, folder: Path) -> Sequence[MetricDefinition]:
        return [metric()]

    async def metric(self, folder: Path, name: str) -> MetricShown:
        if name != metric().name:
            raise NotFound(f"There is no metric {name}. Did you mean cancel-rate?", name=name)
        return MetricShown(metric(), HASH, NOW, "a person", 2, ("rate",))

    async def metric_versions(self, folder: Path, name: str) -> Sequence[MetricVersionRow]:
        words, rows = MetricChangeRow("title", "Rate", "A rate"), MetricChangeRow("where", None, "n > 1")
        return [
            MetricVersionRow("defined", "a" * 64, NOW, "a person", sensors=("rate",)),
            MetricVersionRow("changed", "b" * 64, NOW, "a person", [words], sensors=("rate",)),
            MetricVersionRow("changed", "c" * 64, NOW, "server x", [rows], True, ("rate",)),
            MetricVersionRow("removed", None, NOW, "a person"),
        ]

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
        self.asked.append(("metric_values", (grain, at, where)))
        return [
            MetricReading("2013-02-07", "value", 0.0, 900, {"origin": "EWR"}),
            MetricReading("2013-02-08", "missing", None, 0, {"origin": "EWR"}),
            MetricReading("2013-02-09", "not_yet_arrived", None, None, {"origin": "EWR"}),
        ]

    async def heartbeat(self, folder: Path) -> HeartbeatStanding:
        return HeartbeatStanding(
            "two-desks", on=True, every_s=60, watched_by="host/1", last_round=EXECUTION, last_round_at=NOW, waiting=2,
            quiet=1_234, looked_at=NOW, days=7, work=WorkCounted(40, 9, 12, 130, 9, 3), meta_most=10,
            by_day={"2013-02-08": WorkCounted(40, 9, 12, 130, 9, 3)},
        )  # fmt: skip

    async def sensors(self, folder: Path) -> Sequence[SensorRow]:
        return [SensorRow("rate", "cancel-rate", "hour", ("origin",), "value > 0.15", 3, Severity.HIGH, "explain")]

    async def run_sensors(
        self, folder: Path, names: Sequence[str], *, at: datetime | None, start: bool, by: str | None, watch: Watch
    ) -> SensorsOutcome:
        signal = Signal(
            signal_id=SignalId.new(),
            organisation="three-airports",
            sensor="rate",
            kind=SignalKind.THRESHOLD,
            metric="cancel-rate",
            bucket="2013-02-08",
            value=0.5075,
            severity=Severity.HIGH,
            key="k",
            at=NOW,
        )
        raised = Raised(
            signal, "Explain it's bad", "explain", {"day": "2013-02-08"}, "share", self.outcome if start else None
        )
        return SensorsOutcome(NOW, 1, 24, (raised,), merged=2, failed=self.failed_sensors)
