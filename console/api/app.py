"""Puts the HTTP API together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI

from console.api import (
    alerts,
    approvals,
    beats,
    bridges,
    calibration,
    cluster,
    costs,
    events,
    evidence,
    executions,
    health,
    login,
    memories,
    metric_values,
    notifications,
    products,
    profile,
    questions,
    rules,
    users,
)
from console.api.bodies import Bodies
from console.api.desk import Desk
from console.api.doors import Authentication, Rates, Telling
from console.api.feed import Feed
from console.api.metrics import serve_metrics
from console.api.openapi import describe
from console.api.problems import tell_problems
from console.ports import Application
from contracts import ExecutionId
from governance.access import RateLimiter
from runtime.clock import Clock
from runtime.settings.load import Settings

PREFIX = "/api/v1"


def create_api(
    application: Application,
    *,
    settings: Settings,
    wake: Callable[[ExecutionId], None],
    clock: Clock,
) -> FastAPI:
    """Return the HTTP API as an ASGI application.

    No request runs an execution: what is asked for is recorded, then `wake` is called.

    Args:
        wake: tells the executor of this process that an execution may go on; called on the event loop, returns at once.
        clock: what limits are counted by.
    """
    feed = Feed(application, readers=settings.server.readers)

    @asynccontextmanager
    async def closing(_: FastAPI) -> AsyncIterator[None]:
        yield
        await feed.close()

    api = FastAPI(
        title="Silicon Org",
        version="1",
        docs_url=None,  # it would load scripts from elsewhere
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        lifespan=closing,
        redirect_slashes=False,
    )
    api.state.desk = Desk(application, settings, wake, feed)
    api.state.tries = login.tries_of(settings.access, RateLimiter, clock)
    tell_problems(api)
    versioned = APIRouter(prefix=PREFIX)
    parts = (
        login,
        users,
        executions,
        evidence,
        questions,
        approvals,
        notifications,
        alerts,
        events,
        cluster,
        bridges,
        rules,
        costs,
        metric_values,
        memories,
        products,
        profile,
        calibration,
        beats,
    )
    for each in parts:
        versioned.include_router(each.routes)
    api.include_router(versioned)
    api.include_router(health.routes)
    serve_metrics(api, application)
    _guard(api, application, settings, clock)
    describe(api)
    return api


async def end_streams(api: FastAPI) -> None:
    """End every stream of events, so that the server can stop: call it before the server waits for its connections.

    Readers go on elsewhere, or here again, from the last event they got. From now on `/readyz` says no.
    """
    desk: Desk = api.state.desk
    await desk.feed.close()


async def ensure_first_token(application: Application) -> str | None:
    """Return the text of an administrator's token when this ledger never had a token; it is shown once and then gone.

    Of many processes that start at the same time on one ledger, one gets it.
    """
    made = await application.create_first_token()
    return None if made is None else made[1]


def _guard(api: FastAPI, application: Application, settings: Settings, clock: Clock) -> None:
    """Put the doors before the routes; what is added last is passed first."""
    server = settings.server
    failures = RateLimiter(
        clock, per_s=server.wrong_tokens_per_min / 60, burst=max(1, round(server.wrong_tokens_per_min))
    )
    rates = RateLimiter(clock, per_s=server.rate_per_s, burst=server.rate_burst)
    api.add_middleware(Bodies, settings=server)
    api.add_middleware(Rates, limiter=rates)
    api.add_middleware(
        Authentication,
        application=application,
        failures=failures,
        of_bridges=f"{PREFIX}{bridges.PREFIX}/",
        login=f"{PREFIX}{login.PATH}",
    )
    api.add_middleware(Telling)
