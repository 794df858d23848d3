"""Every fact of an order is a log line as well, with the trace, the order and the step it belongs to."""

from __future__ import annotations

import logging

import pytest

from runtime.ledger.store import SqlStore
from runtime.telemetry.context import bound_facts
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio


class Lines(logging.Handler):
    """Keeps each line with the facts that were bound when it was written."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str]]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append((record.getMessage(), bound_facts()))


async def test_each_event_is_logged_with_its_trace_order_and_step(sqlite_store: SqlStore, clock: HandClock) -> None:
    world = World(sqlite_store, clock, Tool("look", lambda arguments, context: {"seen": 1}))
    order = world.order({"id": "one", "use": "look"})
    lines, logger = Lines(), logging.getLogger("runtime.engine.journal")
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    try:
        await world.run(order)
    finally:
        logger.removeHandler(lines)
        logger.setLevel(logging.NOTSET)

    facts = {"trace_id": order.trace_id, "order": str(order.order_id)}
    assert lines.seen == [
        ("order.accepted", facts),
        ("step.finished", {**facts, "step": "one"}),
        ("order.finished", facts),
    ]
