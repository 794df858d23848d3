"""The facts that every log line of a piece of work carries: trace, execution, order, step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_BOUND: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("silicon_log_facts", default=())


@contextmanager
def working_on(
    *, trace_id: str | None = None, execution: str | None = None, order: str | None = None, step: str | None = None
) -> Iterator[None]:
    """Put these facts into every log line written inside, also by tasks that start inside."""
    facts = {"trace_id": trace_id, "execution": execution, "order": order, "step": step}
    bound = dict(_BOUND.get()) | {name: str(value) for name, value in facts.items() if value is not None}
    token = _BOUND.set(tuple(bound.items()))
    try:
        yield
    finally:
        _BOUND.reset(token)


def bound_facts() -> dict[str, str]:
    """Return the facts of the work in progress."""
    return dict(_BOUND.get())
