"""Cards that promise something of a metric, in a real store, and days on which it came true or did not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.cognition.evaluate import Evaluator
from contracts import CardId, Confidence, DecisionCard, Expectation, Grain, TaskOrder
from governance.approvals import ApprovalGateway
from governance.approvals.card import Use
from memory.metrics import MetricRegistry
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings.evaluation import EvaluationSettings
from tests.governance.cards import MORGAN, ORGANISATION, action, card, option, order
from tests.governance.conftest import gateway
from tests.memory.duck import Duck, cancel_rate, duck
from tests.stores import clock, sqlite_store

__all__ = ["clock", "duck", "gateway", "sqlite_store"]

FIRST = datetime(2013, 2, 9, tzinfo=UTC)
Promise = Callable[..., Awaitable[CardId]]


@pytest.fixture
def registry(duck: Duck) -> MetricRegistry:
    return MetricRegistry([cancel_rate()], duck.query)


@pytest.fixture
def evaluator(sqlite_store: SqlStore, registry: MetricRegistry) -> Evaluator:
    return Evaluator(sqlite_store.ledger, registry, ORGANISATION, EvaluationSettings(outcomes=5))


def expectation(registry: MetricRegistry, day: datetime = FIRST, **changes: Any) -> Expectation:
    values: dict[str, Any] = {
        "metric": "cancel-rate", "metric_version": registry.formula_version("cancel-rate"), "unit": "share",
        "grain": Grain.DAY, "period": f"{day:%Y-%m-%d}", "baseline": 0.3, "change": -0.28, "low": -0.3, "high": -0.2,
        "starts_at": day, "ends_at": day + timedelta(days=1),
    }  # fmt: skip
    return Expectation(**{**values, **changes})


@pytest.fixture
def promise(sqlite_store: SqlStore, gateway: ApprovalGateway, registry: MetricRegistry) -> Promise:
    """Raise a card whose options promise that the rate falls, and decide it: an option, `deny`, or None for not yet."""

    async def make(
        choice: str | None = "nothing",
        *,
        day: datetime = FIRST,
        label: Confidence | None = Confidence.HIGH,
        skill: str | None = "explain",
        carried_out: bool = True,
        **changes: Any,
    ) -> CardId:
        told: TaskOrder = order(skill=skill)
        options = tuple(
            each.model_copy(update={"expects": expectation(registry, day, **changes), "confidence": label})
            for each in (option("waive", action()), option("nothing"))
        )
        raised: DecisionCard = card(options=options, order_id=told.order_id, execution_id=told.execution_id)
        accepted = NewEvent("order.accepted", {"order": told.to_json()})
        begun = Append(str(told.order_id), (accepted,), 0, ORGANISATION, "/test", told.execution_id)
        await sqlite_store.ledger.append(begun, gateway.card_append(raised))
        if choice is not None:
            yes = choice != "deny"
            await gateway.decide(
                raised.card_id, person=MORGAN, approve=yes, option=choice if yes else None,
                reason="" if yes else "Not now.",
            )  # fmt: skip
        if choice == "waive" and carried_out:
            assert await gateway.use(await gateway.get(raised.card_id), Use(told.order_id, "k", 0))
        return raised.card_id

    return make
