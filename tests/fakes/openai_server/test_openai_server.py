"""The server speaks the protocol: the official client understands what it says, and what it does wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import openai
import pytest

from tests.fakes.model import calls, says
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.endpoint import sensible
from tests.fakes.openai_server.fixture import openai_server
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
    stalls,
    streamed,
    too_many,
)
from tests.fakes.openai_server.server import OpenAIServer

__all__ = ["openai_server"]

pytestmark = pytest.mark.anyio

HELLO: Any = [{"role": "user", "content": "hello"}]
LOOK: Any = {
    "type": "function",
    "function": {
        "name": "look",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
}
ONE_OF: Any = {
    "type": "json_schema",
    "json_schema": {
        "name": "action",
        "schema": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"tool": {"const": "look"}, "arguments": {"type": "object"}},
                    "required": ["tool", "arguments"],
                },
                {
                    "type": "object",
                    "properties": {"tool": {"const": "none"}, "words": {"type": "string"}},
                    "required": ["tool", "words"],
                },
            ]
        },
    },
}


@pytest.fixture
async def client(openai_server: OpenAIServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=openai_server.base_url, api_key="sk-canary", max_retries=0, timeout=60
    ) as client:
        yield client


async def ask(client: openai.AsyncOpenAI, **more: Any) -> Any:
    return await client.chat.completions.create(model="fake-model", **{"messages": HELLO, **more})


async def parts(client: openai.AsyncOpenAI, **more: Any) -> list[Any]:
    return [chunk async for chunk in await ask(client, stream=True, **more)]


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


@pytest.mark.parametrize("name", ["developer", "strict", "json_schema", "json_object"])
@pytest.mark.parametrize(("quirk", "status"), [("refused", 400), ("broken", 500)])
async def test_what_it_does_not_have_is_refused_or_breaks_it(
    name: str, quirk: str, status: int, openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.quirks = Quirks(**{name: quirk})  # type: ignore[arg-type]
    asking: dict[str, Any] = {
        "developer": {"messages": [{"role": "developer", "content": "be brief"}]},
        "strict": {"tools": [{"type": "function", "function": {**LOOK["function"], "strict": True}}]},
        "json_schema": {"response_format": ONE_OF},
        "json_object": {"response_format": {"type": "json_object"}},
    }

    with pytest.raises(openai.APIStatusError) as caught:
        await ask(client, **asking[name])

    assert caught.value.status_code == status


async def test_parameters_can_be_refused_by_name(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.quirks = Quirks(refused=frozenset({"n"}))

    with pytest.raises(openai.BadRequestError, match="n") as caught:
        await ask(client, n=2)

    assert caught.value.param == "n"


@pytest.mark.parametrize(
    ("quirks", "more", "said"),
    [
        (Quirks(calls="never"), {"tools": [LOOK]}, "I would use look now."),
        (Quirks(calls="text"), {"tools": [LOOK]}, '{"name": "look", "arguments": {"n": 2}}'),
        (Quirks(calls="never"), {"response_format": ONE_OF}, '{"tool": "look", "arguments": {"n": 2}}'),
        (Quirks(json_schema="ignored"), {"response_format": ONE_OF}, "I would use look now."),
    ],
)
async def test_a_call_of_the_script_becomes_what_the_endpoint_can_say(
    quirks: Quirks, more: Any, said: str, openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.quirks = quirks
    openai_server.plays(calls(("look", {"n": 2})))

    message = (await ask(client, **more)).choices[0].message

    assert (message.tool_calls, message.content) == (None, said)


async def test_words_become_an_object_of_the_schema(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.plays(says("all is well"))

    message = (await ask(client, response_format=ONE_OF)).choices[0].message

    assert message.content == '{"tool": "none", "words": "all is well"}'


async def test_without_streams_the_whole_answer_comes(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.quirks = Quirks(streams=False)
    openai_server.plays(says("hello"))

    raw = await client.chat.completions.with_raw_response.create(model="m", messages=HELLO, stream=True)

    assert raw.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("choice", "quirks", "called"),
    [
        ("required", Quirks(), ["look"]),
        ("auto", Quirks(), []),
        ({"type": "function", "function": {"name": "look"}}, Quirks(), ["look"]),
        ("required", Quirks(obeys_tool_choice=False), []),
    ],
)
async def test_an_obliging_model_calls_what_it_has_to(
    choice: Any, quirks: Quirks, called: list[str], openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.otherwise, openai_server.quirks = sensible, quirks

    message = (await ask(client, tools=[LOOK], tool_choice=choice)).choices[0].message

    assert [call.function.name for call in message.tool_calls or []] == called


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
