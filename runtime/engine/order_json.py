"""The JSON of an order, which is made once where it is handed on and accepted in the same process."""

from __future__ import annotations

from contracts import TaskOrder
from runtime.canonical import Told
from runtime.once import once_for_each


@once_for_each(64)
def json_of(order: TaskOrder) -> Told:
    """Return the JSON of an order; nobody may change it."""
    return Told(order.to_json())
