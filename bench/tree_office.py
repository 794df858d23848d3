"""The tree of `tree.py`: its employees, its work, and an office for hosts of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rig import OpenGate, Work

from agents.organisation.model import EmployeeNode, Organisation, Skill
from agents.workforce import InlineWorkforce
from contracts import PlanDefinition, StatusReport, TaskOrder
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.clock import SystemClock
from runtime.engine.engine import Engine
from runtime.engine.ports import Delegate
from runtime.executor import ExecutionRun
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import ExecutorSettings, LedgerSettings
from runtime.settings.groups import EngineSettings
from runtime.telemetry.redaction import redact

WIDE = 5
NOWHERE = Path()
"""The folder of an organisation that is read from none."""
SETTINGS = EngineSettings(dispatch_at_once=WIDE)


def staff() -> Organisation:
    """Return 31 employees: one manages five, each of whom manages five."""
    managers = tuple(
        _employee(f"m{i}", f"part-{i}", tuple(_employee(f"w{i}{j}", "leaf") for j in range(WIDE))) for i in range(WIDE)
    )
    plans = {"leaf": PlanDefinition.model_validate({"steps": [{"id": "do", "use": "work"}]})}
    plans["whole"] = _all([(f"m{i}", f"part-{i}") for i in range(WIDE)])
    plans |= {f"part-{i}": _all([(f"w{i}{j}", "leaf") for j in range(WIDE)]) for i in range(WIDE)}
    skills = {name: Skill(name, "Work.", plan, NOWHERE) for name, plan in plans.items()}
    return Organisation("bench", NOWHERE, _employee("head", "whole", managers), skills=skills)


def _employee(name: str, skill: str, manages: tuple[EmployeeNode, ...] = ()) -> EmployeeNode:
    return EmployeeNode(name, skills=(skill,), can=("work",), manages=manages)


def _all(handed: list[tuple[str, str]]) -> PlanDefinition:
    steps = [{"id": f"s{i}", "by": by, "skill": skill} for i, (by, skill) in enumerate(handed)]
    return PlanDefinition.model_validate({"steps": steps})


class NoCluster:
    """Nothing here needs a slot."""

    async def submit(self, order: TaskOrder) -> StatusReport:
        raise AssertionError(order.employee)


def workforce_on(store: SqlStore) -> InlineWorkforce:
    """Return the employees, as the program wires them but for the gate and the board."""
    registry = Registry([Work(lambda: None)])
    router, board = Router(registry), None

    def engine(run: ExecutionRun, delegate: Delegate) -> Engine:
        return Engine(
            store=store, router=router, gate=OpenGate(), clock=SystemClock(), settings=SETTINGS, blackboard=board,
            delegate=delegate, leases=run.leases, cancelled=run.cancelled, redact=redact, steps=run.steps,
            cancelled_branches=run.cancelled_branches, known=run.known,
        )  # type: ignore[arg-type]  # fmt: skip

    return InlineWorkforce(
        staff(), store=store, specs=registry.specs(), engine_for=engine, cluster_for=lambda run: NoCluster(),
        clock=SystemClock(), settings=SETTINGS,
    )  # fmt: skip


class Office:
    """Where a host works."""

    settings = ExecutorSettings()

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self._workforce = workforce_on(store)

    @asynccontextmanager
    async def workforce(self, bundle_sha256: str, home: Path) -> AsyncIterator[InlineWorkforce]:
        yield self._workforce

    async def close(self) -> None:
        await self.store.close()


async def open_office(home: Path, given: Mapping[str, Any], node: Any) -> Office:
    return Office(await open_store(LedgerSettings(), home=home, clock=SystemClock()))
