"""An organisation in which an execution works for ever, for tests that cancel it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from cluster.sandbox.processes import MARK
from console.application import SiliconApplication
from console.resources import Resources
from console.views import ExecutionOutcome, RunOptions
from runtime.settings.load import load
from tests.crash.lives import copy_organisation, open_desk
from tests.crash.person import ask_desk


@pytest.fixture(scope="module")
def desk() -> Iterator[int]:
    with open_desk() as port:
        yield port


@dataclass
class Office:
    """An organisation in which an execution works for ever, and as many processes for it as a test needs."""

    home: Path
    folder: Path
    desk: int
    settings: dict[str, Any] = field(default_factory=dict)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[SiliconApplication]:
        """What one process has open."""
        resources = Resources(
            load({"home": str(self.home), "ledger.synchronous": "NORMAL", "slot.count": 4, **self.settings})
        )
        try:
            yield SiliconApplication(resources)
        finally:
            await resources.close()

    async def begin(self, application: SiliconApplication) -> ExecutionOutcome:
        """Bring the execution to where both payments are approved, the second one not made yet."""
        options = RunOptions(goal="Try it.", skill="try-out", by="ann")
        outcome = await application.run(self.folder, options, watch=ignore)
        await self.approve(application, outcome)
        outcome = await application.resume(outcome.execution_id, watch=ignore)
        await self.approve(application, outcome)
        return outcome

    async def approve(self, application: SiliconApplication, outcome: ExecutionOutcome) -> None:
        for standing in outcome.cards:
            await application.decide(standing.card.card_id, option="do", reason="", by="bea")

    async def until_the_program_runs(self) -> None:
        """Wait for the file that the program makes in the folder of its slot, which is all it can reach."""
        async with asyncio.timeout(60):
            while not await asyncio.to_thread(self._said):
                pass

    def _said(self) -> bool:
        return any(self.home.glob("slots/*/runs")) or any(self.home.glob("nodes/*/slots/*/runs"))

    def paid(self) -> list[str]:
        return [call["path"] for call in ask_desk(self.desk, "/log") if call["path"].startswith("/payments")]

    def programs(self) -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            environment = process.environ()
        except psutil.Error:
            return False
        return MARK in environment and environment.get("HOME", "").startswith(str(self.home))


@pytest.fixture
def office(tmp_path: Path, desk: int) -> Office:
    ask_desk(desk, "/begin", {})
    copy_organisation(tmp_path / "organisation", desk)
    return Office(tmp_path / "home", tmp_path / "organisation", desk)


async def faults(application: SiliconApplication) -> Any:
    """Return what the audit finds."""
    return (await application.verify()).faults


def ignore(event: object) -> None:
    """Watch nothing."""
