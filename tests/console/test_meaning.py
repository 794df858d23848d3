"""By what texts are found: one place decides, and `silicon doctor` says what and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from console.doctor_search import search_of
from console.meaning import Meanings, Source
from console.views_system import Examined, Health
from runtime.model.embedding import EndpointEmbedder
from runtime.model.endpoint import Endpoint
from runtime.model.limits import LocalLimiter
from runtime.search import EmbedderUnavailable
from runtime.settings.load import load
from runtime.settings.models import ModelSettings
from tests.fakes.openai_server.fixture import openai_server
from tests.fakes.openai_server.script import fails
from tests.fakes.openai_server.server import EMBEDDINGS, MODEL, OpenAIServer

__all__ = ["openai_server"]
pytestmark = pytest.mark.anyio

NAMED = EndpointEmbedder(
    Endpoint("http://models.test/v1", None, stalled_s=1), MODEL, limiter=LocalLimiter(1), settings=ModelSettings()
)


def meanings(home: Path, names: Mapping[str, str] | None = None) -> Meanings:
    return Meanings(lambda organisation, names: NAMED if "embed" in names else None, home)


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("console.meaning.local_embedder", lambda: None)
    yield


async def test_a_model_that_is_named_comes_before_one_that_is_installed(tmp_path: Path) -> None:
    found = meanings(tmp_path).of("shop", {"embed": MODEL})
    assert (found.source, found.model) == (Source.ENDPOINT, NAMED)
    assert MODEL in found.why


async def test_without_one_that_is_named_the_installed_one_is_taken(tmp_path: Path) -> None:
    both = meanings(tmp_path)
    found = both.of("shop", {})
    assert found.source is Source.LOCAL
    assert both.of("shop", {}).embedder is found.embedder, "it is loaded once"
    assert both.of("another", {}).embedder is found.embedder


@pytest.mark.usefixtures("nothing_installed")
async def test_without_either_words_alone_decide(tmp_path: Path) -> None:
    found = meanings(tmp_path).of("shop", {})
    assert (found.source, found.embedder) == (Source.NONE, None)
    assert "not installed" in found.why


async def test_one_that_cannot_run_here_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise EmbedderUnavailable("it needs AVX2")

    monkeypatch.setattr("console.meaning.local_embedder", broken)
    found = meanings(tmp_path).of("shop", {})
    assert (found.source, found.why) == (Source.NONE, "it needs AVX2")


async def examined(home: Path, server: OpenAIServer, named: Mapping[str, str], **more: Any) -> Examined:
    return await search_of(load({"home": home, "model.base_url": server.base_url, **more}), "shop", named)


async def test_doctor_asks_the_endpoint_for_a_vector_also_where_no_model_reasons(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    found = await examined(tmp_path / "home", openai_server, {"embed": MODEL})
    assert found.health is Health.GOOD
    assert "has the role embed" in found.what
    assert found.facts == {"source": "endpoint", "numbers": 8}
    assert not (tmp_path / "home").exists(), "looking writes nothing"


async def test_doctor_says_that_goals_go_on_by_words_while_the_endpoint_is_broken(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    openai_server.when(lambda asked: asked.path == EMBEDDINGS, fails(500))
    found = await examined(tmp_path, openai_server, {}, **{"model.embed": MODEL})
    assert found.health is Health.BROKEN
    assert found.what.startswith("by words alone, although")
    assert "500" in found.what
    assert "model.embed" in found.mend


async def test_doctor_tries_the_installed_one(tmp_path: Path, openai_server: OpenAIServer) -> None:
    found = await examined(tmp_path, openai_server, {})
    assert (found.health, found.facts["source"], found.facts["numbers"]) == (Health.GOOD, "local", 384)
    assert not openai_server.asked


@pytest.mark.usefixtures("nothing_installed")
async def test_doctor_says_how_to_have_more_than_words(tmp_path: Path, openai_server: OpenAIServer) -> None:
    found = await examined(tmp_path, openai_server, {})
    assert found.health is Health.NOTE
    assert "cannot cross languages" in found.what
    assert "silicon-org[embeddings]" in found.mend
