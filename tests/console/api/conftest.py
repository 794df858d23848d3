"""A small organisation behind a real server on a free port, and people and programs that ask it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from console.api import create_api, end_streams, ensure_first_token
from console.api.desk import Desk
from console.application import open_application
from console.ports import Application
from contracts import ExecutionId
from runtime.ledger import open_store
from runtime.ledger.port import Store
from runtime.settings.access import AccessSettings
from runtime.settings.groups import LedgerSettings, ServerSettings
from runtime.settings.load import Settings
from tests.console.desks import GOAL, make_organisation
from tests.fakes.clock import HandClock
from tests.stores import lay_empty_ledger

__all__ = ["GOAL", "Served", "make_organisation", "serve", "served"]


class Server(uvicorn.Server):
    """A server that tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@dataclass
class Served:
    """A server at work, and what its tests reach behind it."""

    application: Application
    api: FastAPI
    store: Store
    clock: HandClock
    url: str
    admin: str
    folder: Path
    server: Server
    woken: list[ExecutionId] = field(default_factory=list)

    @property
    def desk(self) -> Desk:
        """What the routes work with."""
        desk: Desk = self.api.state.desk
        return desk

    def client(self, token: str | None = None, **headers: str) -> httpx.AsyncClient:
        """Return a client that bears the token, the administrator's unless another is given; "" bears none."""
        token = self.admin if token is None else token
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        bearing = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(base_url=f"{self.url}/api/v1", headers={**bearing, **given}, timeout=60)

    async def token(self, person: str, folder: Path | None = None) -> str:
        """Return a token of one person."""
        return (await self.application.create_token("test", folder=folder or self.folder, person=person))[1]

    async def submit(self, **more: Any) -> ExecutionId:
        """Ask for an execution of the desk."""
        async with self.client() as client:
            response = await client.post("/executions", json={**GOAL, "organisation": "desk", **more})
            assert response.status_code == 202, response.text
            return ExecutionId(response.json()["execution_id"])

    async def run(self, execution_id: ExecutionId) -> None:
        """Do what an executor would: work on it until it waits or ends."""
        await self.application.resume(execution_id, watch=lambda event: None)


@asynccontextmanager
async def serve(tmp_path: Path, *, access: AccessSettings | None = None, **server: Any) -> AsyncIterator[Served]:
    """Serve the desk on a free port; the clock, by which limits are counted, stands still."""
    defaults = {"rate_burst": 10_000, "keep_alive_s": 0.2}
    home = tmp_path / "home"
    lay_empty_ledger(home)
    settings = Settings(
        home=home,
        ledger=LedgerSettings(synchronous="NORMAL"),
        server=ServerSettings(**{**defaults, **server}),
        access=access or AccessSettings(),
    )
    folder = make_organisation(tmp_path / "desk")
    clock, woken = HandClock(), []
    async with open_application(settings) as application:
        admin = await ensure_first_token(application)
        assert admin is not None
        await application.submit(folder, _options())  # from now on the ledger knows the organisation's folder
        api = create_api(application, settings=settings, wake=woken.append, clock=clock)
        running = Server(uvicorn.Config(api, port=0, log_level="critical", timeout_graceful_shutdown=5))
        serving = asyncio.create_task(running.serve())
        store = await open_store(settings.ledger, home=home, clock=clock)
        try:
            async with asyncio.timeout(60):
                await running.ready.wait()
            port = running.servers[0].sockets[0].getsockname()[1]
            yield Served(
                application, api, store, clock, f"http://127.0.0.1:{port}", admin, folder, running, woken
            )  # fmt: skip
        finally:
            await store.close()
            await end_streams(api)
            running.should_exit = True
            await serving


def _options() -> Any:
    from console.views import RunOptions

    return RunOptions(goal="Choose a day", key="first")


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """A server with limits that no test reaches."""
    async with serve(tmp_path) as served:
        yield served
