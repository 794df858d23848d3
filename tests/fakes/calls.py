"""The context of a call, for tests of capabilities."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from runtime.capabilities.port import CallContext
from tests.fakes.orders import an_order

NOW = datetime(2013, 2, 8, 22, 0, tzinfo=UTC)
"""17:00 in New York."""


def a_call(**changes: Any) -> CallContext:
    """Return the context of the first call of step `do`."""
    order = changes.pop("order", None) or an_order()
    facts: dict[str, Any] = {"order": order, "step": "do", "key": f"{order.order_id}:do", "attempt": 1, "now": NOW}
    return CallContext(**{**facts, **changes})
