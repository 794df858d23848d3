"""Cron sensors on a real store, and who asks for their goals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from agents.cognition.sense import Raise
from agents.cognition.sense.cron import CatchUp, CronDefinition
from agents.cognition.sense.timekeeping import Timekeeper
from contracts import ExecutionRequest
from runtime.executor import Submitted
from runtime.executor.register import Register
from runtime.ledger.port import Append, Store
from runtime.settings import SensorSettings

HOURLY = CronDefinition(
    "hourly", "0 * * * *", "UTC", catch_up=CatchUp.ALL, raises=Raise("Look at {{ date }} {{ time }}", "look")
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def keeper(store: Store, *definitions: CronDefinition, **settings: float) -> Timekeeper:
    register = Register(store)

    async def submit(request: ExecutionRequest, beside: Sequence[Append]) -> Submitted:
        return await register.submit(request, "0" * 64, Path("/org"), [b"bundle"], beside=beside)

    return Timekeeper(
        store.ledger, "acme", {each.name: each for each in definitions}, submit,
        settings=SensorSettings.model_validate(settings),
    )  # fmt: skip


async def asked(store: Store) -> list[str]:
    """Return the goals of all executions, in order of the moments that they see."""
    views = await Register(store).list(organisation="acme")
    views = sorted(views, key=lambda view: str(view.request.known_at))
    return [view.request.goal for view in views]
