"""What the process of a host works with: the same store and organisations as any other process of its home folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agents.workforce import InlineWorkforce
from agents.workforce.ray.ports import Node
from console.pinned import Organisations
from console.resources import Resources
from runtime.ledger.port import Store
from runtime.settings.groups import ExecutorSettings
from runtime.settings.load import Settings, load
from runtime.telemetry.logs import start_logs
from runtime.telemetry.redaction import register


async def open_office(
    home: Path, given: Mapping[str, Any], node: Node | None, *, resources_of: type[Resources] = Resources
) -> SiliconOffice:
    """Open the store of a home folder, under the settings that a command was given; see `Office`."""
    resources = resources_of(_settings(home, given, node))
    return SiliconOffice(resources, await resources.store(), await resources.organisations())


async def open_residence(
    home: Path, given: Mapping[str, Any], node: Node, *, resources_of: type[Resources] = Resources
) -> SiliconResidence:
    """Open a bridge for a node; see `Residence`."""
    return SiliconResidence(resources_of(_settings(home, given, node)))


def _settings(home: Path, given: Mapping[str, Any], node: Node | None) -> Settings:
    """Return the settings of a process; one of several nodes keeps what is the node's in a folder of its own."""
    chosen: dict[str, Any] = {**given, "home": str(home), "workforce.engine": "inline"}
    settings = load(chosen)
    if node is not None:
        chosen["cluster.folder"] = str(home / "nodes" / node.name)
        chosen["cluster.labels"] = [*settings.cluster.labels, *node.labels]
        chosen["slot.count"] = settings.slot.count or node.cores
        settings = load(chosen)
    register(secret.get_secret_value() for secret in settings.secrets())
    start_logs(settings.log, settings.home)
    return settings


class SiliconOffice:
    """The port `Office`. What an execution's organisation needs is wired here as it is inline."""

    def __init__(self, resources: Resources, store: Store, organisations: Organisations) -> None:
        self.store = store
        self._resources = resources
        self._organisations = organisations

    @property
    def settings(self) -> ExecutorSettings:
        """How long a host's lease holds, and how often it is renewed."""
        return self._resources.settings.executor

    @asynccontextmanager
    async def workforce(self, bundle_sha256: str, home: Path) -> AsyncIterator[InlineWorkforce]:
        """Give the employees of a pinned organisation."""
        async with self._organisations.using(bundle_sha256, home) as wired:
            yield wired.workforce

    async def close(self) -> None:
        """Close what was opened."""
        await self._resources.close()


class SiliconResidence:
    """The port `Residence`: the bridge of a process that does nothing else."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def serve(self) -> None:
        """Carry out what is assigned to the node, until cancelled."""
        try:
            await (await self._resources.organisations()).bridge.serve()
        finally:
            await self._resources.close()
