"""Signs of life that are only streamed: which model is being asked, for the pictures of what goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from datetime import datetime
from typing import Any

from console.resources import Resources
from console.views import ModelAsked
from contracts import Event, ExecutionId
from runtime.executor.holder import is_gone
from runtime.ledger.port import Fragment, Store
from runtime.model.course import ASKED, QUEUED

LOOK_S = 0.5
"""How often it is looked for new ones."""
MOST = 500
"""Of the newest signs of some orders; older ones are told by events long since."""


async def is_held(store: Store, execution_id: ExecutionId) -> bool:
    """Whether a process that may live works on the execution."""
    return any(not is_gone(lease.holder) for lease in await store.leases.live(execution_id))


async def models_asked(store: Store, orders: Collection[str]) -> list[ModelAsked]:
    """Return the newest sign of each step of these orders, the newest first; whether it still holds, events tell."""
    found: dict[tuple[str, str, int | None], ModelAsked] = {}
    for fragment in await store.fragments.newest(orders, limit=MOST):
        if fragment.type in (ASKED, QUEUED):
            sign = _sign(fragment)
            found.setdefault((sign.order_id, sign.step, sign.index), sign)
    return list(found.values())


def is_overtaken(sign: ModelAsked, events: Sequence[Event]) -> bool:
    """Whether a later event of the order's stream says what came of it."""
    later = (each.data or {} for each in events if each.stream_version > sign.version)
    return any((data.get("step"), data.get("index")) == (sign.step, sign.index) for data in later)


async def streamed_from_now(resources: Resources, execution_id: ExecutionId | None) -> AsyncGenerator[Fragment, None]:
    """Give what is only streamed, of one execution or of all, from now on and without end."""
    fragments = (await resources.store()).fragments
    after = await fragments.head()
    while True:
        for fragment in await fragments.read(after=after):
            after = fragment.seq
            if execution_id in (None, fragment.execution_id):
                yield fragment
        await asyncio.sleep(LOOK_S)


def _sign(fragment: Fragment) -> ModelAsked:
    data: Any = fragment.data
    return ModelAsked(
        order_id=fragment.stream, step=data["step"], index=data["index"], role=data["role"], model=data["model"],
        waits=fragment.type == QUEUED, since=datetime.fromisoformat(data["since"]), version=data["version"],
    )  # fmt: skip
