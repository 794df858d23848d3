"""Executions as the ledger holds them, made of a few facts, for tests of what is done with a whole ledger."""

from __future__ import annotations

from contracts import ExecutionId
from runtime.canonical import sha256
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore

ORGANISATION = "acme"


def fact(stream: str, version: int, event: NewEvent, execution_id: ExecutionId | None = None) -> Append:
    """Return an append of one event."""
    return Append(stream, [event], version, ORGANISATION, "/organisation/acme", execution_id=execution_id)


async def add(store: SqlStore, stream: str, event_type: str, execution_id: ExecutionId | None = None) -> None:
    """Append one event to a stream, wherever it stands."""
    version = len(await store.ledger.read(stream))
    await store.ledger.append(fact(stream, version, NewEvent(event_type, {"n": version}), execution_id))


async def execution(
    store: SqlStore, *, ended: bool = True, steps: int = 3, result: bytes = b"result", shared: bytes = b"organisation"
) -> ExecutionId:
    """Store an execution with an order, a card that was decided, and a key on the board; return its id.

    `shared` is the blob that its request names, `result` the one that its last step names.
    """
    execution_id = ExecutionId.new()
    order = f"order/{execution_id.ulid}"
    requested = NewEvent("execution.requested", {"organisation_sha256": sha256(shared)})
    claim = fact(f"request/{ORGANISATION}/{execution_id.ulid}", 0, NewEvent("request.claimed", {}), execution_id)
    await store.ledger.append(claim, fact(execution_id, 0, requested, execution_id), blobs=[shared])
    await add(store, order, "order.accepted", execution_id)
    for _ in range(steps - 1):
        await add(store, order, "step.finished", execution_id)
    finished = NewEvent("step.finished", {"output_sha256": sha256(result)})
    await store.ledger.append(fact(order, steps, finished, execution_id), blobs=[result])
    await add(store, f"card/{execution_id.ulid}", "card.raised", execution_id)
    await add(store, f"card/{execution_id.ulid}", "card.decided", execution_id)
    await add(store, f"blackboard/{execution_id.ulid}/key", "key.written", execution_id)
    if ended:
        await add(store, execution_id, "execution.finished", execution_id)
    return execution_id


EVENTS = 9
"""Of an ended execution with three steps: its own, its order's, its card's and its key's."""
