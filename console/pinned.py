"""The organisations of one process: as their folder stands now, and as an execution pinned them."""

from __future__ import annotations

from pathlib import Path

from agents.organisation import Organisation, load, load_bundle
from cluster import ControlPlane
from console.wiring import Wired, all_builtin_specs, control_plane_of
from contracts import OrderState, StatusReport
from runtime.clock import Clock
from runtime.errors import SiliconError
from runtime.executor import ExecutionRun
from runtime.ledger.port import Store
from runtime.settings.load import Settings


class Organisations:
    """Loads and wires organisations; the same bundle is wired once."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._pinned: dict[tuple[str, Path], Wired] = {}
        self._current: list[Wired] = []
        self._plane: ControlPlane | None = None

    def read(self, folder: Path) -> Organisation:
        """Return the organisation as its folder stands now; raise OrganisationFaulty with all its faults."""
        return load(
            folder,
            builtin=all_builtin_specs(),
            tree_depth=self._settings.engine.tree_depth,
            approvals=self._settings.approval,
        )

    def now(self, folder: Path) -> Wired:
        """Return the organisation as its folder stands now, ready to work."""
        wired = self._wire(self.read(folder))
        self._current.append(wired)
        return wired

    async def pinned(self, sha256: str, home: Path) -> Wired:
        """Return the organisation as it stood when its execution was asked for; `home` is where its data is."""
        if (sha256, home) not in self._pinned:
            organisation = load_bundle(
                await self._store.blobs.get(sha256),
                home,
                builtin=all_builtin_specs(),
                tree_depth=self._settings.engine.tree_depth,
                approvals=self._settings.approval,
            )
            self._pinned[sha256, home] = self._wire(organisation)
        return self._pinned[sha256, home]

    async def close(self) -> None:
        """Close what was opened."""
        for wired in (*self._pinned.values(), *self._current):
            await wired.close()

    def _wire(self, organisation: Organisation) -> Wired:
        self._plane = self._plane or control_plane_of(self._store, self._settings)
        return Wired(organisation, self._store, self._settings, self._clock, self._plane)


class PinnedBody:
    """What the executor runs: the workforce of the organisation that the execution pinned."""

    def __init__(self, organisations: Organisations) -> None:
        self._organisations = organisations

    async def run(self, run: ExecutionRun) -> StatusReport:
        """Carry the execution out, or go on where it stood.

        A cancelled one whose organisation cannot be used any more ends as cancelled, and says that nothing was taken
        back.
        """
        try:
            wired = await self._organisations.pinned(run.organisation_sha256, run.home)
        except SiliconError as error:
            if not run.cancelled():
                raise
            return StatusReport(order_id=run.root_order_id, state=OrderState.CANCELLED, error=error.problem())
        return await wired.workforce.run(run)
