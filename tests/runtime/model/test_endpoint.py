"""The official client under test: a real server of the protocol, and every way in which one can misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from runtime.capabilities.http_answer import LONGEST_WAIT_S
from runtime.errors import NetworkFault, SiliconError
from runtime.model.endpoint import Endpoint
from runtime.model.errors import ModelAccessRefused, ModelAnswerTooLong, ModelRefused, ModelStalled
from tests.fakes.model import says
from tests.fakes.openai_server.script import (
    bad_request,
    cut,
    fails,
    hangs_up,
    html,
    sends,
    stalls,
    streamed,
    too_many,
)
from tests.fakes.openai_server.server import OpenAIServer

pytestmark = pytest.mark.anyio
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
STREAM = {**BODY, "stream": True}


@pytest.fixture
async def endpoint(openai_server: OpenAIServer) -> AsyncIterator[Endpoint]:
    made = Endpoint(openai_server.base_url, SecretStr("sk-canary-4711"), stalled_s=0.3)
    yield made
    await made.close()


async def parts(endpoint: Endpoint) -> list[Any]:
    return [part async for part in endpoint.stream(STREAM)]


async def failure(endpoint: Endpoint, *, stream: bool = False) -> SiliconError:
    with pytest.raises(SiliconError) as caught:
        await (parts(endpoint) if stream else endpoint.complete(BODY))
    return caught.value


async def test_a_whole_answer_comes_as_it_was_sent(endpoint: Endpoint, openai_server: OpenAIServer) -> None:
    openai_server.plays(says("Hello."))
    answer: Any = await endpoint.complete(BODY)
    assert answer["choices"][0]["message"]["content"] == "Hello."


async def test_a_stream_comes_part_by_part(endpoint: Endpoint, openai_server: OpenAIServer) -> None:
    openai_server.plays(streamed({"choices": []}, {"odd": True}, {"choices": [{"delta": {"content": "x"}}]}))
    assert await parts(endpoint) == [{"choices": []}, {"odd": True}, {"choices": [{"delta": {"content": "x"}}]}]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (fails(500), NetworkFault),
        (html(502), NetworkFault),
        (too_many(), NetworkFault),
        (hangs_up(), NetworkFault),
        (bad_request("The tools are wrong."), ModelRefused),
        (fails(404, "No such model."), ModelRefused),
        (fails(401, "Who are you?"), ModelAccessRefused),
        (fails(403, "Not you."), ModelAccessRefused),
    ],
    ids=["500", "page", "429", "hangs-up", "400", "404", "401", "403"],
)
async def test_each_refusal_is_what_it_is(
    endpoint: Endpoint, openai_server: OpenAIServer, answer: Any, kind: type[SiliconError], stream: bool
) -> None:
    openai_server.plays(answer)
    error = await failure(endpoint, stream=stream)
    assert type(error) is kind
    assert "canary" not in error.message


async def test_nothing_is_tried_again_behind_the_back_of_the_engine(
    endpoint: Endpoint, openai_server: OpenAIServer
) -> None:
    openai_server.plays(fails(500), says("never"))
    await failure(endpoint)
    assert openai_server.count() == 1


async def test_how_long_to_wait_is_told_in_seconds_or_by_a_date(
    endpoint: Endpoint, openai_server: OpenAIServer
) -> None:
    openai_server.plays(too_many(7), too_many(datetime.now(UTC) + timedelta(seconds=60)), too_many())
    waits = [(await failure(endpoint)).facts.get("retry_after_s") for _ in range(3)]
    assert waits[0] == 7
    assert isinstance(waits[1], float)
    assert 50 < waits[1] <= 60
    assert waits[2] is None


async def test_an_endpoint_without_a_byte_is_given_up(endpoint: Endpoint, openai_server: OpenAIServer) -> None:
    openai_server.plays(stalls(says("a b c"), after=0), stalls(says("a b c"), after=1))
    for stream in (False, True):
        error = await failure(endpoint, stream=stream)
        assert isinstance(error, ModelStalled)
        assert error.code == "LLM_STALLED"
    openai_server.release()


async def test_a_connection_cut_in_the_middle_is_a_passing_fault(
    endpoint: Endpoint, openai_server: OpenAIServer
) -> None:
    openai_server.plays(cut(says("a b c"), after=1), cut(says("a b c"), after=1))
    assert isinstance(await failure(endpoint), NetworkFault)
    assert isinstance(await failure(endpoint, stream=True), NetworkFault)


@pytest.mark.parametrize("body", ["{", "[1, 2]", '"words"', "", "null", "\x00"])
async def test_what_is_no_answer_is_a_fault_of_the_other_side(
    endpoint: Endpoint, openai_server: OpenAIServer, body: str
) -> None:
    openai_server.plays(sends(body))
    assert isinstance(await failure(endpoint), NetworkFault)


async def test_a_broken_event_ends_the_stream(endpoint: Endpoint, openai_server: OpenAIServer) -> None:
    openai_server.plays(streamed('{"choices": ['), streamed({"error": {"message": "The GPU fell off."}}))
    assert isinstance(await failure(endpoint, stream=True), NetworkFault)
    assert "The GPU fell off" in (await failure(endpoint, stream=True)).message


async def test_nobody_there_is_a_passing_fault() -> None:
    nobody = Endpoint("http://127.0.0.1:9/v1", None, stalled_s=1)
    assert isinstance(await failure(nobody), NetworkFault)
    await nobody.close()


async def test_a_long_complaint_is_cut(endpoint: Endpoint, openai_server: OpenAIServer) -> None:
    openai_server.plays(bad_request("x" * 2_000_000))
    assert len((await failure(endpoint)).message) < 1_000


async def test_connections_are_used_again(endpoint: Endpoint, openai_server: OpenAIServer) -> None:
    openai_server.plays(*[says("Hello.")] * 6)
    for _ in range(3):
        await endpoint.complete(BODY)
        await parts(endpoint)
    assert openai_server.connections == 1


async def test_somebody_who_is_cancelled_leaves_the_endpoint_usable(
    endpoint: Endpoint, openai_server: OpenAIServer
) -> None:
    openai_server.plays(stalls(says("a b c")), says("Hello."))
    task = asyncio.create_task(parts(endpoint))
    await openai_server.until(lambda: openai_server.count() == 1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    openai_server.release()
    assert (await endpoint.complete(BODY))["choices"]


async def test_embeddings_come_in_the_order_of_the_texts(endpoint: Endpoint, openai_server: OpenAIServer) -> None:
    vectors = await endpoint.embed("m", ["one", "two", "three"])
    assert len(vectors) == 3
    assert len({len(vector) for vector in vectors}) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_what_is_asked_goes_nowhere_else(endpoint: Endpoint, openai_server: OpenAIServer, stream: bool) -> None:
    openai_server.plays(sends("", status=307, Location=f"{openai_server.base_url}/chat/completions"), says("never"))
    error = await failure(endpoint, stream=stream)
    assert isinstance(error, ModelRefused)
    assert "change OPENAI_BASE_URL" in error.message
    assert openai_server.count() == 1


@pytest.mark.parametrize("told", ["inf", "1e300", "9" * 400, "Fri, 31 Dec 9999 23:59:59 -2359"])
async def test_a_wait_beyond_all_time_is_still_a_passing_fault(
    endpoint: Endpoint, openai_server: OpenAIServer, told: str
) -> None:
    openai_server.plays(too_many(told))
    error = await failure(endpoint)
    assert isinstance(error, NetworkFault)
    assert float(str(error.problem().facts.get("retry_after_s", 0))) <= LONGEST_WAIT_S


async def test_a_password_in_the_address_is_told_to_nobody() -> None:
    assert "canary" not in Endpoint("http://ann:canary-4711@models.test/v1", None, stalled_s=1).where


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_an_answer_without_end_is_not_read_to_its_end(
    endpoint: Endpoint, openai_server: OpenAIServer, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.model.bounded.bounded_client.__kwdefaults__", {"longest": 10_000})
    openai_server.plays(streamed(*[b"data: {}" + b" " * 1_000] * 100) if stream else sends(b" " * 100_000))
    error = await failure(endpoint, stream=stream)
    assert isinstance(error, ModelAnswerTooLong)
    assert "more than 10,000 bytes" in error.message


@pytest.mark.parametrize("key", ["cl\u00e9-canary-4711", "sk-canary\nsk-4711"])
async def test_a_key_that_no_request_can_carry_is_told_without_it(key: str) -> None:
    error = await failure(Endpoint("http://127.0.0.1:1/v1", SecretStr(key), stalled_s=1))
    assert isinstance(error, ModelAccessRefused)
    assert "OPENAI_API_KEY" in error.message
    assert "4711" not in error.message
