"""An order that another process submitted, carried out here: whatever stops it becomes its report."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from cluster.engines import EngineFactory, Engines
from cluster.errors import SlotLost
from contracts import OrderState, Problem, StatusReport, TaskOrder
from runtime.errors import LedgerError, SiliconError

_log = logging.getLogger(__name__)


async def for_others(
    order: TaskOrder, engines: Engines, carry_out: Callable[[EngineFactory], Awaitable[StatusReport]]
) -> StatusReport:
    """Return the report of the order.

    Raises:
        SlotLost, LedgerError: nothing can be said of it here any more; it goes on elsewhere.
    """
    try:
        async with engines.for_order(order) as engine_for:
            return await carry_out(engine_for)
    except (SlotLost, LedgerError):
        raise
    except SiliconError as error:
        return StatusReport(order_id=order.order_id, state=OrderState.FAILED, error=error.problem())
    except Exception as error:
        _log.exception("%s failed on a fault of the program", order.order_id)
        said = f"{type(error).__name__}: {error}"[:500]
        problem = Problem(
            code="UNEXPECTED",
            message=f"The order stopped on a fault of the program ({said}). The log of its node has the details.",
            facts={"error": said},
        )
        return StatusReport(order_id=order.order_id, state=OrderState.FAILED, error=problem)
