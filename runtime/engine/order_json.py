"""The JSON of an order, which is made once where it is handed on and accepted in the same process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts import TaskOrder
from runtime.once import once_for_each


@once_for_each(64)
def json_of(order: TaskOrder) -> Mapping[str, Any]:
    """Return the JSON of an order; nobody may change it."""
    return order.to_json()
