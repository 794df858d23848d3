"""Who caused an event: what an agent causes does not wake it.

The chain of causes travels with each request (`ExecutionRequest.caused_by`). An event of an execution does not wake

- a sensor that stands in the chain of its execution, so that no ring of sensors and runs of any length goes round;
- an employee that took part in the execution, at any depth: its own word does not come back to it through its
  manager. The head, which has the first order of every execution, took part where it wrote the event itself.

What the organisation's own rounds do wakes nobody.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field

from contracts import Event, ExecutionId, ExecutionRequest, Name
from runtime.ledger.port import Ledger

HEARTBEAT = "heartbeat/"
"""What the name of a round's requester begins with."""
SENSOR = "sensor/"
_KEPT = 500
_PAGE = 1_000


@dataclass(slots=True)
class Traced:
    """What is known of one execution."""

    chain: tuple[str, ...]
    """Its causes, itself the last."""
    requested_by: str
    employees: dict[str, Name] = field(default_factory=dict)
    """Order → who got it."""
    head: Name | None = None
    """Who got the first order."""
    seen: int = 0
    """Position up to which its events were read."""


class Causes:
    """Looks up who caused an event.

    Args:
        longest: sensors that may have led to it one after the other; what they all set off multiplies.
    """

    def __init__(self, ledger: Ledger, longest: int) -> None:
        self._ledger = ledger
        self._longest = longest
        self._known: OrderedDict[ExecutionId, Traced | None] = OrderedDict()

    async def chain(self, event: Event) -> tuple[str, ...] | None:
        """Return the causes of an event, its execution the last; None where they are not known any more."""
        if event.execution_id is None:
            return ()
        traced = await self._traced(event.execution_id)
        return None if traced is None else traced.chain

    async def why_not(self, event: Event, sensor: Name, woken: Collection[Name]) -> str | None:
        """Return why the event must not wake the sensor, or None when it may.

        Args:
            woken: the employees that would get what the sensor raises.
        """
        if event.execution_id is None:
            return None
        traced = await self._traced(event.execution_id)
        if traced is None:
            return "what led to it was pruned"
        if traced.requested_by.startswith(HEARTBEAT):
            return "a round of the heartbeat did it"
        if f"{SENSOR}{sensor}" in traced.chain:
            return "the sensor itself led to it"
        if sum(each.startswith(SENSOR) for each in traced.chain) >= self._longest:
            return f"{self._longest} sensors led to it one after the other (`sensor.chain_length`)"
        await self._follow(event.execution_id, traced, until=event.position)
        author = traced.employees.get(event.subject) or _employee_in(event.source)
        took_part = {name for name in traced.employees.values() if name != traced.head}
        if author is not None:
            took_part.add(author)
        own = sorted(took_part.intersection(woken))
        return f"{own[0]} took part in it and would be woken" if own else None

    async def _traced(self, execution_id: ExecutionId) -> Traced | None:
        if execution_id in self._known:
            self._known.move_to_end(execution_id)
            return self._known[execution_id]
        first = await self._ledger.read_versions(execution_id, [1])
        data = first[0].data if first else None
        traced = None
        if data is not None:
            request = ExecutionRequest.read(data["request"])  # type: ignore[arg-type]
            traced = Traced((*request.caused_by, execution_id), request.requested_by)
        self._known[execution_id] = traced
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return traced

    async def _follow(self, execution_id: ExecutionId, traced: Traced, *, until: int) -> None:
        """Take in who got orders of the execution up to a position."""
        while traced.seen < until:
            page = await self._ledger.read_execution(execution_id, after=traced.seen, limit=_PAGE)
            for event in page:
                self._take_in(traced, event)
            if len(page) < _PAGE:
                traced.seen = max(until, traced.seen)
                return

    def _take_in(self, traced: Traced, event: Event) -> None:
        traced.seen = event.position
        if event.type != "order.accepted" or event.data is None:
            return
        order = event.data["order"]
        if not isinstance(order, dict):
            return
        traced.employees[event.subject] = str(order["employee"])
        if not order.get("chain"):
            traced.head = str(order["employee"])


def _employee_in(source: str) -> Name | None:
    """Return the employee that a source names: what it writes outside of its order's stream bears its name."""
    _, found, name = source.rpartition("/employee/")
    return name if found and "/" not in name else None
