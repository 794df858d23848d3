"""The seal of an order that ended, put on before its slot is given back."""

from __future__ import annotations

from collections.abc import Sequence

from cluster.evidence.items import events_of, items_of
from cluster.evidence.package import evidence_id_of, packages_of, seal
from contracts import EvidenceId, StatusReport, TaskOrder
from runtime.clock import Clock
from runtime.ledger.port import Append, Lease, NewEvent, Store


async def with_evidence(
    order: TaskOrder, report: StatusReport, *, store: Store, clock: Clock, leases: Sequence[Lease]
) -> StatusReport:
    """Return the report with the id of the order's sealed package, however it ended; one that goes on has none yet.

    Sealed again, as after a crash between the seal and the report, it is the package that was sealed before.

    Raises:
        StaleWriter: a lease was lost; whoever has the slot's order now seals it.
    """
    if not report.state.final:
        return report
    sealed = await _seal(order, store=store, clock=clock, leases=leases)
    return report.model_copy(update={"evidence": (*(each for each in report.evidence if each != sealed), sealed)})


async def _seal(order: TaskOrder, *, store: Store, clock: Clock, leases: Sequence[Lease]) -> EvidenceId:
    stream = evidence_id_of(order.order_id)
    items = items_of(await events_of(store.ledger, order.order_id))
    earlier = packages_of(await store.ledger.read(stream))
    if earlier and earlier[-1].items == items:
        return earlier[-1].evidence_id
    package = seal(order, items, clock.now())
    append = Append(
        stream=stream,
        events=(NewEvent("evidence.sealed", {"package": package.to_json()}),),
        expected_version=len(earlier),
        organisation=order.organisation,
        source=f"/organisation/{order.organisation}/cluster/bridge",
        execution_id=order.execution_id,
        trace_id=order.trace_id,
        leases=tuple(leases),
    )
    await store.ledger.append(append)
    return package.evidence_id
