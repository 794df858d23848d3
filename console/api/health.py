"""Whether the server lives, and whether it is ready; the only routes that need no token, and they tell nothing else."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from console.api.desk import AtDesk
from console.api.errors import NotReady
from console.api.shown import Health
from runtime.errors import LedgerError, LedgerFull

WITHIN_S = 3.0

routes = APIRouter(tags=["health"])


@routes.head("/healthz", include_in_schema=False)
@routes.get("/healthz")
async def lives() -> Health:
    """Say that the process lives."""
    return Health(status="ok")


@routes.head("/readyz", include_in_schema=False)
@routes.get("/readyz")
async def is_ready(desk: AtDesk) -> Health:
    """Say that requests will be served: the ledger answers, it has space, and the server is not stopping."""
    if desk.feed.closed.is_set():
        raise NotReady("The server is stopping.")
    try:
        async with asyncio.timeout(WITHIN_S):
            await desk.application.require_writable()
    except LedgerFull:
        raise NotReady("The disk of the ledger is full.") from None
    except (LedgerError, TimeoutError):
        raise NotReady("The ledger does not answer.") from None
    return Health(status="ok")
