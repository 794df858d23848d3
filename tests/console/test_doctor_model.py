"""`silicon doctor` asks the endpoint, and says what it supports and what to set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from console.doctor_model import models_of
from console.views_system import Examined, Health
from runtime.ledger.store import SqlStore
from runtime.model.profiles import Profiles
from runtime.settings.load import Settings, load
from tests.fakes.model import says
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.script import fails, stalls
from tests.fakes.openai_server.server import CHAT, MODEL, OpenAIServer, obliging
from tests.stores import clock, sqlite_store

__all__ = ["clock", "sqlite_store"]
pytestmark = pytest.mark.anyio


def settings_for(home: Path, url: str, **more: Any) -> Settings:
    return load({"home": home, "model.base_url": url, "model.reason": MODEL, **more})


async def examined(home: Path, server: OpenAIServer, profiles: Profiles | None = None, **more: Any) -> list[Examined]:
    try:
        return await models_of(settings_for(home, server.base_url, **more), {}, profiles)
    finally:
        server.stop()


async def test_without_a_model_it_says_what_still_runs_and_what_to_set(tmp_path: Path) -> None:
    (found,) = await models_of(load({"home": tmp_path}), {}, None)
    assert found.health is Health.NOTE
    assert "MODEL_REQUIRED" in found.what
    assert "SILICON_MODEL__REASON" in found.mend


async def test_a_model_that_keeps_the_protocol_is_good(tmp_path: Path) -> None:
    (found,) = await examined(tmp_path, obliging(models={MODEL: {"context_length": 8_192}}))
    assert found.health is Health.GOOD
    assert "calls tools" in found.what
    assert "8,192 tokens" in found.what
    assert not found.mend


async def test_what_it_lacks_is_told_in_words(tmp_path: Path) -> None:
    quirks = Quirks(calls="never", stream_usage="never")
    (found,) = await examined(tmp_path, obliging(quirks=quirks))
    assert found.health is Health.GOOD
    assert "offered as a schema" in found.what
    assert "usage in streams" in found.what
    assert "model.context_tokens" in found.mend


async def test_one_that_follows_neither_tools_nor_schemas_is_a_note(tmp_path: Path) -> None:
    (found,) = await examined(tmp_path, obliging(quirks=Quirks(calls="text", json_schema="ignored")))
    assert found.health is Health.NOTE


async def test_an_endpoint_that_is_not_there_is_broken_and_says_what_to_look_at(tmp_path: Path) -> None:
    (found,) = await models_of(settings_for(tmp_path, "http://127.0.0.1:9/v1"), {}, None)
    assert found.health is Health.BROKEN
    assert "OPENAI_BASE_URL" in found.mend


async def test_one_that_does_not_answer_in_time_may_be_busy_and_is_not_a_wrong_setting(tmp_path: Path) -> None:
    server = OpenAIServer()
    server.plays(stalls(says("Hello."), after=0))
    (found,) = await examined(tmp_path, server, **{"model.stalled_s": 1})
    assert found.health is Health.BROKEN
    assert "waits 1 s at most" in found.mend
    assert "OPENAI_API_KEY" not in found.mend


async def test_a_model_that_the_endpoint_does_not_have_is_told_with_those_that_it_has(tmp_path: Path) -> None:
    server = OpenAIServer(models={"small": {}, "large": {}})
    server.when(lambda asked: asked.path == CHAT, fails(404, "There is no such model."))
    (found,) = await examined(tmp_path, server)
    assert found.health is Health.BROKEN
    assert found.mend == "It has large, small. Set SILICON_MODEL__REASON, or the model in org.yaml, to one of them."


async def test_an_endpoint_that_knows_no_address_of_it_says_what_to_look_at(tmp_path: Path) -> None:
    server = OpenAIServer()
    server.when(lambda _: True, fails(404, "Not found."))
    (found,) = await examined(tmp_path, server)
    assert "OPENAI_BASE_URL" in found.mend


async def test_a_wrong_key_is_told_without_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-of-this-test")
    (found,) = await examined(tmp_path, OpenAIServer(key="another"))
    assert found.health is Health.BROKEN
    assert "canary" not in f"{found.what} {found.mend} {found.facts}"


async def test_what_is_found_out_for_an_organisation_is_kept_for_its_work(
    tmp_path: Path, sqlite_store: SqlStore
) -> None:
    server = obliging(quirks=Quirks(calls="never"))
    await examined(tmp_path, server, Profiles(sqlite_store.ledger, "org", server.base_url))
    kept = await Profiles(sqlite_store.ledger, "org", server.base_url).kept(MODEL)
    assert kept is not None
    assert not kept.tools
