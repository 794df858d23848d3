"""The role `embed` behind the port of the search, over a real HTTP endpoint."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest

from runtime.model.embedding import EndpointEmbedder
from runtime.model.endpoint import Endpoint
from runtime.model.limits import LocalLimiter
from runtime.search import Document, EmbedderUnavailable, SearchIndex
from runtime.settings.models import ModelSettings
from tests.fakes.openai_server.asked import Asked
from tests.fakes.openai_server.protocol import embeddings_of
from tests.fakes.openai_server.script import bad_request, fails, held, sends, slow, too_many, whole
from tests.fakes.openai_server.server import EMBEDDINGS, OpenAIServer

pytestmark = pytest.mark.anyio

Make = Callable[..., EndpointEmbedder]


class Hours:
    """A clock that the test moves."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def hours() -> Hours:
    return Hours()


@pytest.fixture
async def make(openai_server: OpenAIServer, hours: Hours) -> AsyncIterator[Make]:
    endpoint = Endpoint(openai_server.base_url, None, stalled_s=20)

    def made(model: str = "m", *, at_once: int = 16, **settings: Any) -> EndpointEmbedder:
        limiter = LocalLimiter(at_once)
        return EndpointEmbedder(endpoint, model, limiter=limiter, settings=ModelSettings(**settings), now=hours)

    yield made
    await endpoint.close()


def asked_for(server: OpenAIServer) -> list[list[str]]:
    return [asked.json["input"] for asked in server.asked if asked.path == EMBEDDINGS]


def any_embedding(asked: Asked) -> bool:
    return asked.path == EMBEDDINGS


def refuses_more_than(texts: int, *, characters: int = 10_000) -> Callable[[Asked], Any]:
    def answer(asked: Asked) -> Any:
        given = asked.json["input"]
        if len(given) > texts or any(len(text) > characters for text in given):
            return bad_request("too much")
        return whole(embeddings_of(asked.json))

    return answer


async def test_vectors_have_length_one_and_come_in_the_order_of_the_texts(make: Make) -> None:
    texts = [f"text {number}" for number in range(7)]
    together = await make(embed_batch=2).embed_passages(texts)
    alone = [(await make().embed_passages([text]))[0] for text in texts]

    assert np.allclose(together, alone)
    assert [float(np.linalg.norm(vector)) for vector in together] == pytest.approx([1.0] * 7, abs=1e-5)


async def test_a_request_holds_no_more_texts_than_the_setting_says(make: Make, openai_server: OpenAIServer) -> None:
    await make(embed_batch=3).embed_passages(list("abcdefgh"))
    assert sorted(map(len, asked_for(openai_server))) == [2, 3, 3]


async def test_requests_wait_for_room_in_the_limit_of_the_organisation(make: Make, openai_server: OpenAIServer) -> None:
    open_at_once: list[int] = []

    def answer(asked: Asked) -> Any:
        open_at_once.append(openai_server.count(EMBEDDINGS))
        return whole(embeddings_of(asked.json))

    openai_server.when(any_embedding, answer)
    await make(at_once=1, embed_batch=1).embed_passages(["a", "b", "c"])
    assert open_at_once == [1, 2, 3]


async def test_an_endpoint_that_refuses_so_many_texts_is_asked_with_half_from_then_on(
    make: Make, openai_server: OpenAIServer
) -> None:
    openai_server.when(any_embedding, refuses_more_than(2))
    embedder = make(embed_batch=8)
    assert len(await embedder.embed_passages(list("abcdefgh"))) == 8
    before = openai_server.count(EMBEDDINGS)

    assert len(await embedder.embed_passages(list("ijkl"))) == 4
    assert openai_server.count(EMBEDDINGS) - before == 2


async def test_one_text_that_is_too_long_is_cut_and_leaves_the_others_together(
    make: Make, openai_server: OpenAIServer
) -> None:
    openai_server.when(any_embedding, refuses_more_than(8, characters=1_000))
    embedder = make(embed_batch=8)
    vectors = await embedder.embed_passages(["short", "x" * 3_000, *"abcdef"])
    assert len(vectors) == 8
    before = openai_server.count(EMBEDDINGS)

    await embedder.embed_passages(list("ghijklmn"))
    assert openai_server.count(EMBEDDINGS) - before == 1


async def test_what_is_put_before_a_text_tells_queries_from_passages(make: Make, openai_server: OpenAIServer) -> None:
    embedder = make(embed_query_prefix="query: ", embed_passage_prefix="passage: ")
    await embedder.embed_queries(["rain"])
    await embedder.embed_passages(["rain"])

    assert asked_for(openai_server) == [["query: rain"], ["passage: rain"]]
    assert embedder.name != make().name


def vectors_of(*vectors: Any, indices: list[int] | None = None) -> Any:
    places = range(len(vectors)) if indices is None else indices
    rows = [{"index": at, "embedding": vector} for at, vector in zip(places, vectors, strict=True)]
    return sends(json.dumps({"data": rows}))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (fails(500), "answered 500"),
        (fails(404, "no such model"), "404"),
        (fails(401), "does not let this key"),
        (too_many(3), "429"),
        (sends("<html>", media_type="text/html"), "no JSON|no embeddings"),
        (vectors_of([1.0, 0.0]), "1 embeddings for 2"),
        (vectors_of([1.0, 0.0], [0.0, 1.0], indices=[0, 0]), "one twice"),
        (vectors_of([1.0, 0.0], [0.0, float("nan")]), "no direction"),
        (vectors_of([1.0, 0.0], [float("inf"), 0.0]), "no direction"),
        (vectors_of([1.0, 0.0], [0.0, 0.0]), "no direction"),
        (vectors_of([], []), "no direction"),
        (vectors_of([1.0, 0.0], [1.0]), "1 numbers where others have 2"),
        (vectors_of("AAAA", "AAAA"), "no embeddings"),
    ],
)
async def test_what_is_no_vector_for_each_text_is_one_error_that_says_why(
    make: Make, openai_server: OpenAIServer, answer: Any, told: str
) -> None:
    openai_server.when(any_embedding, answer)
    with pytest.raises(EmbedderUnavailable, match=told):
        await make().embed_passages(["one", "two"])


async def test_an_endpoint_that_hangs_is_waited_for_no_longer_than_the_setting_says(
    make: Make, openai_server: OpenAIServer
) -> None:
    openai_server.when(any_embedding, held(vectors_of([1.0])))
    with pytest.raises(EmbedderUnavailable, match=r"model\.embed_s"):
        await make(embed_s=0.1).embed_queries(["rain"])
    openai_server.release()


async def test_texts_that_can_be_found_may_take_longer_than_what_is_looked_for(
    make: Make, openai_server: OpenAIServer
) -> None:
    openai_server.when(any_embedding, slow(vectors_of([1.0, 0.0]), seconds=0.3))
    assert len(await make(embed_s=0.05).embed_passages(["rain"])) == 1


async def test_after_a_failure_nobody_asks_until_it_has_rested(
    make: Make, openai_server: OpenAIServer, hours: Hours
) -> None:
    openai_server.when(any_embedding, fails(500))
    embedder = make(embed_rest_s=60)
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable, match="answered 500"):
            await embedder.embed_queries(["rain"])
    assert openai_server.count(EMBEDDINGS) == 1

    openai_server.when(any_embedding, vectors_of([3.0, 4.0]))
    hours.now_s = 61.0
    [vector] = await embedder.embed_queries(["rain"])
    assert vector == pytest.approx([0.6, 0.8])


async def test_the_search_finds_with_it(make: Make) -> None:
    index = SearchIndex({"text": 1.0}, embedder=make(), keyword_share=0.0)
    index.put(Document("rain", {"text": "rain"}), Document("bill", {"text": "bill"}))

    assert (await index.search("rain", top=1))[0].document.id == "rain"
