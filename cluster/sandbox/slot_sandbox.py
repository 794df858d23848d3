"""The port `Sandbox` for drivers that start processes on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from cluster.sandbox.cell import Cell
from cluster.sandbox.program import Interpreter, Program
from cluster.sandbox.resident import ResidentProgram
from cluster.sandbox.started import start
from contracts import Json
from runtime.capabilities.port import NO_GRANTS, Grants, SandboxResult


class ProcessSandbox:
    """One folder, and programs in it, one at a time or several."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self._residents: set[ResidentProgram] = set()
        self._waiting: Interpreter | None = None

    @property
    def folder(self) -> Path:
        """The slot's own folder."""
        return self._cell.folder

    async def warm_up(self) -> None:
        """Start the interpreter of the first script, so that it only has to be sent."""
        self._waiting = await Interpreter.start(self._cell, NO_GRANTS)

    @property
    def warm(self) -> bool:
        """Whether an interpreter waits for the first script."""
        return self._waiting is not None and self._waiting.waits

    async def run_python(
        self, script: str, *, stdin: bytes = b"", wall_s: float | None = None, grants: Grants = NO_GRANTS
    ) -> SandboxResult:
        """Run `script` under the slot's limits; `stdin` is the JSON of its `inputs`."""
        await asyncio.to_thread(self._cell.renew)
        program = Program(self._cell, grants, await self._ready_for(grants))
        return await program.run(script, stdin, wall_s=wall_s or self._cell.settings.wall_s)

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
        begun = await start(self._cell, grants)
        asked: dict[str, Json] = {"argv": list(argv), "environment": {**begun.environment, **(environment or {})}}
        resident = ResidentProgram(begun, await begun.head(asked, wall_s=wall_s), wall_s=wall_s)
        self._residents.add(resident)
        return resident

    async def end_residents(self) -> None:
        """End what still runs, or waits to."""
        if (waiting := self._taken()) is not None:
            await waiting.end()
        await asyncio.gather(*(resident.stop() for resident in self._residents))
        self._residents.clear()

    async def _ready_for(self, grants: Grants) -> Interpreter | None:
        """Return the interpreter that waits, for one script and never again; None where it does not fit or is gone."""
        if self._waiting is None or grants != NO_GRANTS:
            return None
        waiting = self._taken()
        assert waiting is not None
        if waiting.waits:
            return waiting
        await waiting.end()
        return None

    def _taken(self) -> Interpreter | None:
        waiting, self._waiting = self._waiting, None
        return waiting
