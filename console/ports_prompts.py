"""What a face needs of past prompts; part of the port `Application`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from console.views_prompts import ShownPrompt
from contracts import ExecutionId, OrderId


class Prompts(Protocol):
    """What models were told, put together again from the ledger and the organisation as it was pinned."""

    async def prompts(self, execution_id: ExecutionId, orders: Sequence[OrderId]) -> Sequence[ShownPrompt]:
        """Return every request of these orders that a model answered, order by order, oldest first.

        Raises:
            NotFound: there is no such execution.
        """
        ...
