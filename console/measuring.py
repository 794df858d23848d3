"""Metrics and their versions, as the ledger knows them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from agents.organisation import Organisation
from console.folders import folder_of
from console.noting import MetricNoting, definitions_of
from console.resources import Resources
from console.seeing import Seeing
from console.system_user import system_user
from console.views_metrics import MetricChangeRow, MetricShown, MetricVersionRow
from governance.access import Sight
from memory.metric_versions import MetricVersion, MetricVersions


class Measuring:
    """The port `MetricsPort`."""

    _resources: Resources

    @cached_property
    def _noting(self) -> MetricNoting:
        return MetricNoting(self._resources.settings, self._resources.clock)

    async def metric(self, folder: Path, name: str) -> MetricShown:
        """Return one metric with its version; see the port."""
        organisation = await self._noted(folder)
        definition = definitions_of(organisation, self._seeing_in(folder)).get(name)
        history = await (await self._versions(organisation)).history(name)
        last = history[-1]
        watching = tuple(each.name for each in organisation.thresholds.values() if each.metric == name)
        return MetricShown(
            definition, last.version or "", last.in_force_since, last.read_by, len(history), watching
        )  # fmt: skip

    async def metric_versions(self, folder: Path, name: str) -> Sequence[MetricVersionRow]:
        """Return the versions of a metric; see the port."""
        organisation = await self._noted(folder)
        history = await (await self._versions(organisation)).history(name)
        sight = self._seeing_in(folder)
        if not history or name in organisation.metrics or not sight.whole:  # one that is gone has no owner any more
            definitions_of(organisation, sight).get(name)  # where it is not there, this says what is
        return [_row(version) for version in history]

    async def require_metric(self, folder: Path, name: str) -> None:
        """Return when the system user may see the metric; raise NotFound where for them there is none."""
        organisation = (await self._resources.organisations()).read(folder_of(folder))
        definitions_of(organisation, self._seeing_in(folder)).get(name)

    def _seeing_in(self, folder: Path) -> Sight:
        return Seeing(self._resources, self._resources.onlooker).in_folder(folder)

    async def _noted(self, folder: Path) -> Organisation:
        """Return the organisation as its folder stands now, with what changed in its metrics recorded."""
        organisation = (await self._resources.organisations()).read(folder_of(folder))
        await self._noting.note(await self._resources.store(), organisation, system_user())
        return organisation

    async def _versions(self, organisation: Organisation) -> MetricVersions:
        return MetricVersions((await self._resources.store()).ledger, organisation.name)


def _row(version: MetricVersion) -> MetricVersionRow:
    return MetricVersionRow(
        entry=version.entry.value,
        version=version.version,
        in_force_since=version.in_force_since,
        read_by=version.read_by,
        changed=[MetricChangeRow(each.field, each.before, each.after) for each in version.changed],
        recalibrates=version.recalibrates,
        sensors=version.sensors,
    )
