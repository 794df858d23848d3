"""An engine whose model is behind HTTP, asked through the real client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from runtime.ledger.store import SqlStore
from runtime.model.client import ModelClient, Terms
from runtime.model.endpoint import Endpoint
from runtime.model.limits import Limiter, LocalLimiter
from runtime.model.profile import Profile
from runtime.model.profiles import Profiles
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.openai_server.server import MODEL

MOST_TOKENS = 500
"""Of an answer."""


@asynccontextmanager
async def asking(
    store: SqlStore, clock: HandClock, base_url: str, *tools: Tool, stalled_s: float = 30,
    limiter: Limiter | None = None, **settings: Any,
) -> AsyncIterator[World]:  # fmt: skip
    """Give a world whose model is at that address, of which all is known already."""
    made, endpoint = World(store, clock, *tools, **settings), Endpoint(base_url, None, stalled_s=stalled_s)
    profiles = Profiles(store.ledger, "acme", base_url)
    await profiles.find_anew(MODEL, Profile())
    terms = Terms(most_tokens=MOST_TOKENS, context_tokens=8_000, stream=True, prices={})
    made.model = ModelClient(
        endpoint, {"reason": MODEL}, terms=terms, limiter=limiter or LocalLimiter(4), profiles=profiles
    )  # fmt: skip
    yield made
    await endpoint.close()
