"""Metrics and sensors: what is measured, and what is noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from agents.cognition.attend import Sampling
from agents.cognition.sense import SensorDefinition, SensorRun, idempotency_key, request_for
from agents.cognition.sense.noticed import noticed
from agents.organisation import Organisation
from console.asking import acting, known_at
from console.beats.standings import sensor_rows
from console.errors import UnknownName
from console.folders import folder_of
from console.noting import MetricNoting
from console.ports_executions import Watch
from console.resources import Resources
from console.running import Running
from console.system_user import system_user
from console.views import MetricReading
from console.views_sensors import Raised, SensorFailure, SensorRow, SensorsOutcome
from console.wiring import Wired
from contracts import ExecutionId, MetricDefinition, Signal
from memory.metrics import MetricValue
from runtime.errors import InvalidArguments
from runtime.executor import KeyInUse


class Watching:
    """What a person asks of an organisation's numbers."""

    def __init__(self, resources: Resources, running: Running, noting: MetricNoting) -> None:
        self._resources = resources
        self._running = running
        self._noting = noting

    async def metrics(self, folder: Path) -> Sequence[MetricDefinition]:
        """Return the metrics of an organisation, by name."""
        organisation = (await self._resources.organisations()).read(folder_of(folder))
        return [organisation.metrics[name] for name in sorted(organisation.metrics)]

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
        """Return values of one metric as known at a moment; see the port."""
        wired = await self._wired(folder)
        metric = wired.metrics.get(name)
        moment = known_at(wired.organisation, at) or self._resources.clock.now()
        of = grain or (metric.grains[-1].value if bucket is None else _grain_of(bucket))
        if bucket is not None:
            values = await wired.metrics.value(name, of, at=moment, bucket=bucket, where=dict(where), by=by)
        else:
            values = await wired.metrics.history(name, of, at=moment, last=last, where=dict(where), by=by)
        return [_reading(value) for value in values]

    async def sensors(self, folder: Path) -> Sequence[SensorRow]:
        """Return the sensors of an organisation, by name."""
        resources = self._resources
        organisation, _ = await (await resources.organisations()).current(folder_of(folder))
        store = await resources.store()
        await self._noting.note(store, organisation, system_user())
        now = known_at(organisation, None) or resources.clock.now()
        sampling = Sampling(store, organisation.name, resources.settings.attention)
        every = {name: (await sampling.rate(name)).every for name in organisation.thresholds}
        return await sensor_rows(store.ledger, organisation, now, every)

    async def run_sensors(
        self, folder: Path, names: Sequence[str], *, at: datetime | None, start: bool, by: str | None, watch: Watch
    ) -> SensorsOutcome:
        """Let sensors look at what is known at a moment; see the port."""
        wired = await self._wired(folder)
        organisation = wired.organisation
        if start:
            acting(organisation, by)
        moment = known_at(organisation, at) or self._resources.clock.now()
        raised: list[Raised] = []
        failed: list[SensorFailure] = []
        looked_at = merged = 0
        chosen = _chosen(names, organisation)
        runs = [(definition, await wired.sensors.run(definition, moment)) for definition in chosen]
        await wired.alerts.note([each for _, run in runs for each in noticed(run)], moment)  # before anything follows
        for definition, run in runs:
            looked_at += run.buckets
            merged += len(run.merged)
            if run.problem is not None:
                failed.append(SensorFailure(definition.name, run.problem))
            for signal in run.signals:
                raised.append(await self._raised(definition, signal, organisation, moment, start=start, watch=watch))
            if start:
                raised += await self._left_behind(definition, run, organisation, moment, watch)
        return SensorsOutcome(moment, len(chosen), looked_at, tuple(raised), merged, tuple(failed))

    async def _raised(
        self,
        definition: SensorDefinition,
        signal: Signal,
        organisation: Organisation,
        moment: datetime,
        *,
        start: bool,
        watch: Watch,
    ) -> Raised:
        request, unit = None, organisation.metrics[definition.metric].unit
        if signal.threshold is not None:
            request = request_for(definition, signal, known_at=moment, language=organisation.language)
        if request is None:
            return Raised(signal, unit=unit)
        execution = None
        if start:
            try:
                execution = await self._running.carry_out(request, organisation, organisation.folder, watch=watch)
            except KeyInUse as error:  # another process started it meanwhile, at a moment of its own
                execution = await self._running.follow(ExecutionId(str(error.facts["execution_id"])), watch=watch)
        return Raised(signal, request.goal, request.skill, request.parameters, unit, execution)

    async def _left_behind(
        self, definition: SensorDefinition, run: SensorRun, organisation: Organisation, moment: datetime, watch: Watch
    ) -> list[Raised]:
        """Start the goals of signals raised before whose execution never began, for example after a crash between."""
        executor = await self._resources.executor()
        found: list[Raised] = []
        for signal in {merged.signal.key: merged.signal for merged in run.merged}.values():
            begun = await executor.find(organisation.name, idempotency_key(signal))
            if begun is None and signal.threshold is not None:
                found.append(await self._raised(definition, signal, organisation, moment, start=True, watch=watch))
        return found

    async def _wired(self, folder: Path) -> Wired:
        wired = (await self._resources.organisations()).now(folder_of(folder))
        await self._noting.note(wired.store, wired.organisation, system_user())
        return wired


def _chosen(names: Sequence[str], organisation: Organisation) -> list[SensorDefinition]:
    unwatched = [name for name in names if name in organisation.sensors and name not in organisation.thresholds]
    if unwatched:
        raise InvalidArguments(
            f"{', '.join(unwatched)} watches no metric, so that there is nothing to look at now. Sensors "
            "of set times, and those that listen to events, work under a server (silicon up).",
            names=[*unwatched],
        )  # fmt: skip
    unknown = [name for name in names if name not in organisation.thresholds]
    if unknown:
        there = ", ".join(sorted(organisation.thresholds)) or "none"
        raise UnknownName(f"There is no sensor {', '.join(unknown)}. There is: {there}.", names=list(unknown))
    return [organisation.thresholds[name] for name in names or sorted(organisation.thresholds)]


def _grain_of(bucket: str) -> str:
    return "hour" if "T" in bucket else "day"


def _reading(value: MetricValue) -> MetricReading:
    return MetricReading(
        bucket=value.bucket,
        state=value.state.value,
        value=value.value,
        n=value.n,
        dimensions=value.dimensions,
    )
