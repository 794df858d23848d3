"""A server that starts makes the vectors of its organisations' skills before anybody asks for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from console.pinned import Organisations
from console.server.warming import warm
from console.starter.make import make
from runtime.ledger.store import SqlStore
from runtime.settings.load import load
from tests.fakes.clock import HandClock
from tests.fakes.openai_server.fixture import openai_server
from tests.fakes.openai_server.server import EMBEDDINGS, MODEL, OpenAIServer
from tests.stores import clock, sqlite_store

__all__ = ["clock", "openai_server", "sqlite_store"]
pytestmark = pytest.mark.anyio


class Warmed:
    """An organisation of one skill, and what a server makes ready of it."""

    def __init__(self, store: SqlStore, clock: HandClock, home: Path, server: OpenAIServer) -> None:
        self._store, self._clock, self._home, self._server = store, clock, home, server
        self.opened: list[Organisations] = []
        make(home / "bakery")

    async def texts(self, **more: Any) -> list[str]:
        given = {"home": str(self._home), "model.base_url": self._server.base_url, "model.embed": MODEL, **more}
        settings = load({"skills.all_up_to": 0, "model.reason": MODEL, **given}, working=self._home)
        organisations = Organisations(self._store, settings, self._clock)
        self.opened.append(organisations)
        organisations.give(self._home / "bakery")
        before = len(self._server.asked)
        await warm(organisations, settings)
        asked = [asked.json["input"] for asked in self._server.asked[before:] if asked.path == EMBEDDINGS]
        return [text for texts in asked for text in texts]


@pytest.fixture
async def warmed(
    sqlite_store: SqlStore, clock: HandClock, tmp_path: Path, openai_server: OpenAIServer
) -> AsyncIterator[Warmed]:
    found = Warmed(sqlite_store, clock, tmp_path, openai_server)
    yield found
    for organisations in found.opened:
        await organisations.close()


async def test_what_was_made_ready_is_there_for_the_next_process(warmed: Warmed) -> None:
    first = await warmed.texts()
    assert "review week" in first
    assert await warmed.texts() == ["bakery"]


async def test_nothing_is_embedded_where_no_model_reasons_or_all_skills_are_shown(warmed: Warmed) -> None:
    assert await warmed.texts(**{"model.reason": ""}) == []
    assert await warmed.texts(**{"skills.all_up_to": 10}) == []


async def test_a_folder_that_was_broken_meanwhile_is_told_and_ends_no_server(
    warmed: Warmed, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await warmed.texts()
    (tmp_path / "bakery" / "org.yaml").write_text("name: [")
    await warm(warmed.opened[0], load({"home": str(tmp_path), "model.reason": MODEL}, working=tmp_path))
    assert "skills could not be made ready" in caplog.text
