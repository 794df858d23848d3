"""Which streams are an execution's own: what is exported with it, and what is pruned with it."""

from __future__ import annotations

from contracts import ExecutionId

OWN = frozenset(
    {"execution", "order", "card", "question", "notification", "evidence", "files", "blackboard", "reading"}
)
"""Kinds of streams that live and go with their execution. Each of their events carries the execution's id.

Everything else outlives it: who used an idempotency key (`request`), what a sensor saw, holds, tokens, erasures, the
record of what was pruned. A new kind of stream of an execution has to be added here, or it is neither exported nor
pruned; `tests/console/test_archives_whole.py` looks for kinds that nobody decided on.
"""

KEPT = frozenset(
    {
        "request",
        "sensor",
        "hold",
        "erasure",
        "pruning",
        "dead",
        "token",
        "workspace",
        "node",
        "user",
        "sign_in",
        "delivery",
    }
)
"""Kinds that stay, also where one of their events carries the id of an execution."""


def is_own(stream: str, execution_id: ExecutionId) -> bool:
    """Whether a stream whose events carry the execution's id may be one of its own."""
    kind, _, name = stream.partition("/")
    if kind == "execution":
        return stream == execution_id
    if kind == "blackboard":
        return name.startswith(f"{execution_id.ulid}/")
    return kind in OWN
