"""From an order's stream to its view, by way of its snapshots."""

from __future__ import annotations

from collections.abc import Sequence

from contracts import Event, TaskOrder
from runtime.engine.fold import apply
from runtime.engine.snapshot import put_in
from runtime.engine.view import OrderView
from runtime.ledger.port import Ledger


async def open_view(ledger: Ledger, stream: str) -> OrderView:
    """Return the view of an order as its engine goes on with it: results of finished steps are read when asked for."""
    view = OrderView()

    async def read_events(versions: Sequence[int]) -> Sequence[Event]:
        return await ledger.read_versions(stream, versions)

    segments = await ledger.snapshots(stream)
    if segments:
        view.read_events = read_events
        covered = put_in(view, segments)
        for event in await read_events(covered.versions):
            apply(view, event)
        view.version = covered.version
    for event in await ledger.read(stream, after_version=view.version):
        apply(view, event)
    return view


async def accepted_order(ledger: Ledger, stream: str) -> TaskOrder | None:
    """Return the order as it was accepted, which its stream begins with; None when it was not."""
    for event in await ledger.read_versions(stream, [1]):
        if event.type == "order.accepted" and event.data is not None:
            return TaskOrder.read(event.data["order"])  # type: ignore[arg-type]
    return None
