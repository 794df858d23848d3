"""Secrets in what a tool or a model throws: neither the ledger nor the log nor the next request holds them."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from runtime.ledger.store import SqlStore
from runtime.model.port import ModelRequest
from runtime.telemetry.log_lines import FORMATTER
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World
from tests.fakes.model import ScriptedModel, calls, done

pytestmark = pytest.mark.anyio
SECRET = "ghp_canary4f5e6d7c8b9a0f1e2d3c"
THINK: dict[str, Any] = {"id": "think", "react": "Go.", "tools": ["look"], "gives": {"n": "integer"}}


class Gate:
    """A badly made part: its error tells the password that it used."""

    def __call__(self, *_: Any) -> Any:
        raise RuntimeError(f"cannot log in with password={SECRET}")


async def traces(store: SqlStore, caplog: pytest.LogCaptureFixture, model: ScriptedModel) -> str:
    """Everything that a run leaves: events, lines of the log as they are written, requests to the model."""
    events = [event.model_dump_json() for event in await store.ledger.read_all()]
    lines = [FORMATTER.format(record) for record in caplog.records]
    assert lines, "what went wrong is in the log"
    return "\n".join([*events, *lines, *(json.dumps(list(request.messages)) for request in model.requests)])


async def test_what_a_tool_throws_is_told_without_its_secret(
    sqlite_store: SqlStore, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    world, model = World(sqlite_store, clock, Tool("look", Gate())), ScriptedModel(calls(("look", {})), done(n=1))
    world.model = model

    with caplog.at_level(logging.DEBUG):
        await world.run(world.order(THINK))

    told = await traces(sqlite_store, caplog, model)
    assert "cannot log in with" in told and SECRET not in told


async def test_what_the_client_of_a_model_throws_is_told_without_its_secret(
    sqlite_store: SqlStore, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(ScriptedModel):
        async def ask(self, request: ModelRequest) -> Any:
            Gate()()

    world, model = World(sqlite_store, clock, Tool("look", lambda a, c: {})), Broken()
    world.model = model

    with caplog.at_level(logging.DEBUG):
        report = await world.run(world.order(THINK))

    told = await traces(sqlite_store, caplog, model)
    assert "cannot log in with" in told and SECRET not in told
    assert report.error is not None and SECRET not in report.error.message
