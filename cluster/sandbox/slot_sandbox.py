"""The port `Sandbox` for drivers that start processes on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from cluster.sandbox.cell import Cell
from cluster.sandbox.program import Program
from cluster.sandbox.resident import ResidentProgram
from cluster.sandbox.started import start
from runtime.capabilities.port import NO_GRANTS, Grants, SandboxResult


class ProcessSandbox:
    """One folder, and programs in it, one at a time or several."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self._residents: set[ResidentProgram] = set()

    @property
    def folder(self) -> Path:
        """The slot's own folder."""
        return self._cell.folder

    async def run_python(
        self, script: str, *, stdin: bytes = b"", wall_s: float | None = None, grants: Grants = NO_GRANTS
    ) -> SandboxResult:
        """Run `script` under the slot's limits; `stdin` is the JSON of its `inputs`."""
        await asyncio.to_thread(self._cell.renew)
        return await Program(self._cell, grants).run(script, stdin, wall_s=wall_s or self._cell.settings.wall_s)

    async def start(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        wall_s: float | None = None,
        grants: Grants = NO_GRANTS,
    ) -> ResidentProgram:
        """Start a program that stays until it ends, is stopped, breaks a limit, or the slot is closed."""
        await asyncio.to_thread(self._cell.renew)
        begun = await start(self._cell, {"argv": list(argv)}, grants, wall_s=wall_s, environment=environment)
        resident = ResidentProgram(begun, wall_s=wall_s)
        self._residents.add(resident)
        return resident

    async def end_residents(self) -> None:
        """End what still runs."""
        await asyncio.gather(*(resident.stop() for resident in self._residents))
        self._residents.clear()
