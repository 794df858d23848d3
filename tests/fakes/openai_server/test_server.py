"""The server speaks the protocol: the official client understands what it says, and what it does wrong."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings
from datetime import UTC, datetime
from typing import Any

import openai
import pytest

from contracts import Usage
from runtime.model.answers import Assembly, answer_of
from runtime.model.port import Ending, ModelAnswer
from tests.fakes.model import calls, says
from tests.fakes.openai_server.asking import HELLO, LOOK, ask, parts
from tests.fakes.openai_server.protocol import vector_of
from tests.fakes.openai_server.script import (
    bad_request,
    breaks_off,
    calls_as_written,
    cut,
    fails,
    hangs_up,
    held,
    html,
    played,
    sends,
    slow,
    stalls,
    streamed,
    too_many,
)
from tests.fakes.openai_server.server import OpenAIServer

pytestmark = pytest.mark.anyio


async def test_a_scripted_call_comes_whole(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(calls(("look", {"n": 2})))

    choice = (await ask(client, tools=[LOOK])).choices[0]

    assert (choice.finish_reason, choice.message.tool_calls[0].function.arguments) == ("tool_calls", '{"n": 2}')


async def test_a_scripted_call_comes_in_parts(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(calls(("look", {"airport": "JFK"})))

    chunks = await parts(client, tools=[LOOK])

    told = [call.function for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert len(told) > 2
    assert "".join(each.arguments for each in told) == '{"airport": "JFK"}'
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


async def test_a_stream_tells_what_it_took_when_asked(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(says("hello"), says("hello"))

    told = await parts(client, stream_options={"include_usage": True})
    not_told = await parts(client)

    assert (told[-1].choices, told[-1].usage.completion_tokens) == ([], 5)
    assert not_told[-1].usage is None


async def test_the_key_is_needed_and_kept_nowhere(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.key = "sk-another"

    with pytest.raises(openai.AuthenticationError):
        await ask(client)

    assert "canary" not in repr(openai_server.asked)
    assert openai_server.asked[0].headers["authorization"] == "Bearer …"


@pytest.mark.parametrize("after", [30, "1.5", datetime(2026, 1, 1, tzinfo=UTC), None])
async def test_429_says_how_long_to_wait(after: Any, openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(too_many(retry_after=after))

    with pytest.raises(openai.RateLimitError) as caught:
        await ask(client)

    told = {"30": 30, "1.5": "1.5", "Thu, 01 Jan 2026 00:00:00 GMT": datetime(2026, 1, 1, tzinfo=UTC), None: None}
    assert told[caught.value.response.headers.get("retry-after")] == after


async def test_a_fault_may_come_once_or_always(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(fails(), says("better"))

    with pytest.raises(openai.InternalServerError):
        await ask(client)
    assert (await ask(client)).choices[0].message.content == "better"

    openai_server.otherwise = fails(503)
    for _ in range(3):
        with pytest.raises(openai.InternalServerError):
            await ask(client)


async def test_400_names_what_is_wrong(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(bad_request("Too long.", param="messages", code="context_length_exceeded"))

    with pytest.raises(openai.BadRequestError) as caught:
        await ask(client)

    assert (caught.value.param, caught.value.code) == ("messages", "context_length_exceeded")


@pytest.mark.parametrize("answer", [hangs_up(), cut(says("half of it")), cut(says("headers only"), after=0)])
async def test_a_cut_connection_is_one(answer: Any, openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(answer)

    with pytest.raises(openai.APIConnectionError):
        await ask(client)


async def test_a_stream_may_be_cut_after_some_parts(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(cut(says("a text of some length"), after=2))
    got = []

    with pytest.raises(openai.APIConnectionError):
        async for chunk in await ask(client, stream=True):
            got.append(chunk.choices[0].delta.content)

    assert got == ["", "a text o"]


async def test_a_stream_may_end_without_its_end(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(breaks_off(says("hello")))

    assert [chunk.choices[0].finish_reason for chunk in await parts(client)] == [None, None]


async def test_a_stalled_stream_goes_on_when_it_is_released(
    openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.plays(stalls(says("hello")))
    stream = aiter(await ask(client, stream=True))
    first = await anext(stream)
    openai_server.release()

    assert (first.choices[0].delta.content, (await anext(stream)).choices[0].delta.content) == ("", "hello")
    await stream.aclose()


@pytest.mark.parametrize("answer", [slow(says("hello"), seconds=60), stalls(says("hello"))])
async def test_what_comes_too_slowly_runs_into_the_patience_of_the_client(
    answer: Any, openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.plays(answer)

    with pytest.raises(openai.APITimeoutError):
        await parts(client, timeout=0.2)

    await openai_server.until(lambda: openai_server.hung_up == 1)


async def test_a_client_that_leaves_is_noticed(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(held(says("too late")))
    asking = asyncio.create_task(ask(client))
    await openai_server.until(lambda: openai_server.count() == 1)

    asking.cancel()

    await openai_server.until(lambda: openai_server.hung_up == 1)


async def test_it_tells_how_many_were_asking_at_once(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.otherwise = held(says("hello"))
    asking = [asyncio.create_task(ask(client)) for _ in range(3)]
    await openai_server.until(lambda: openai_server.most_at_once == 3)
    openai_server.release()
    await asyncio.gather(*asking)
    await ask(client)

    assert (openai_server.most_at_once, openai_server.count(), openai_server.connections) == (3, 4, 3)


@pytest.mark.parametrize("answer", [sends('{"choices": ['), sends(""), html(200), sends("{}", media_type="text/plain")])
async def test_what_is_no_completion_is_sent_as_it_is(
    answer: Any, openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.plays(answer)

    raw = await client.chat.completions.with_raw_response.create(model="m", messages=HELLO)

    assert raw.status_code == 200
    assert not raw.text.endswith("}]}")


async def test_odd_chunks_are_sent_as_they_are(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(streamed({"choices": None}, {"id": ""}, b": a comment\n\n", '{"choices": []}'))

    assert [chunk.choices for chunk in await parts(client)] == [None, None, []]


async def test_broken_arguments_are_sent_as_they_are(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(calls_as_written(("look", '{"n": '), finish="length"))

    choice = (await ask(client, tools=[LOOK])).choices[0]

    assert (choice.finish_reason, choice.message.tool_calls[0].function.arguments) == ("length", '{"n": ')


@pytest.mark.parametrize(
    "ending", [Ending.LENGTH, Ending.FILTERED, Ending.REFUSED, Ending.REASONING_ONLY, Ending.EMPTY]
)
@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_ends_as_the_script_says(
    ending: Ending, stream: bool, openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.plays(ModelAnswer("" if ending is Ending.EMPTY else "some", ending=ending))
    assembly = Assembly(streamed=stream)

    for came in await parts(client) if stream else [await ask(client)]:
        assembly.take(came.model_dump())

    assert answer_of(assembly.whole(), name_of=str, usage=Usage()).ending is ending


async def test_a_rule_goes_before_the_script(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(says("of the script"))
    openai_server.when(lambda asked: bool(asked.tools), says("of the rule"))

    first, second = await ask(client, tools=[LOOK]), await ask(client)

    assert [each.choices[0].message.content for each in (first, second)] == ["of the rule", "of the script"]


async def test_a_played_answer_belongs_to_how_far_the_conversation_is(
    openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.otherwise = played(says("first"), says("second"))
    more: Any = [*HELLO, {"role": "assistant", "content": "first"}, *HELLO]

    told = [await ask(client), await ask(client), await ask(client, messages=more)]

    assert [each.choices[0].message.content for each in told] == ["first", "first", "second"]


async def test_it_has_models_and_embeddings(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.models = {"small": {"max_model_len": 4096}}

    models = (await client.models.list()).data
    vectors = (await client.embeddings.create(model="small", input=["one", "two"])).data

    assert [(each.id, each.max_model_len) for each in models] == [("small", 4096)]  # type: ignore[attr-defined]
    assert [each.embedding for each in vectors] == [vector_of("one", 8), vector_of("two", 8)]


async def test_a_script_at_its_end_fails_the_test() -> None:
    server = OpenAIServer()
    async with openai.AsyncOpenAI(base_url=server.base_url, api_key="k", max_retries=0) as client:
        with pytest.raises(openai.BadRequestError, match="once more"):
            await ask(client)

    with pytest.raises(AssertionError, match="once more"):
        server.stop()


@pytest.mark.parametrize("answer", [stalls(says("Hello."), after=0), sends(b"x" * 50_000_000)])
async def test_a_server_that_is_stopped_in_the_middle_of_answers_leaves_no_connection_open(answer: Any) -> None:
    server = OpenAIServer(answer)
    asking, silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(2)]
    with asking, silent, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ResourceWarning)
        asking.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        await server.until(lambda: server.count() == 1)

        late = socket.create_connection(("127.0.0.1", server.port))
        server.stop()
        late.close()
        gc.collect()

    assert [str(each.message) for each in warned] == []
