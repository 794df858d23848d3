"""An endpoint with quirks says what it can, and refuses what it does not have."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.fakes.model import calls, says
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.asking import HELLO, LOOK, ONE_OF, ask, parts
from tests.fakes.openai_server.endpoint import sensible
from tests.fakes.openai_server.server import OpenAIServer

pytestmark = pytest.mark.anyio


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


@pytest.mark.parametrize(("told", "where"), [("never", [0, 0, 0]), ("each", [1, 1, 1]), ("asked", [0, 0, 0, 1])])
async def test_what_a_stream_took_is_told_in_the_ways_of_endpoints(
    told: Any, where: list[int], openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.quirks = Quirks(stream_usage=told)
    openai_server.plays(says("hello"))

    chunks = await parts(client, stream_options={"include_usage": True})

    assert [int(chunk.usage is not None) for chunk in chunks] == where


async def test_json_that_is_asked_for_may_be_passed_over(
    openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.otherwise = sensible
    form: Any = {"type": "json_object"}
    held = (await ask(client, response_format=form)).choices[0].message.content
    openai_server.quirks = Quirks(json_object="ignored")
    ignored = (await ask(client, response_format=form)).choices[0].message.content

    assert (held, ignored) == ('{"answer": "pong"}', "pong")


async def test_an_endpoint_may_give_one_call_at_a_time(openai_server: OpenAIServer, client: openai.AsyncOpenAI) -> None:
    openai_server.quirks = Quirks(parallel=False)
    openai_server.plays(calls(("look", {"n": 1}), ("look", {"n": 2})))

    message = (await ask(client, tools=[LOOK])).choices[0].message

    assert [call.function.arguments for call in message.tool_calls] == ['{"n": 1}']


async def test_a_request_that_is_longer_than_the_context_is_refused(
    openai_server: OpenAIServer, client: openai.AsyncOpenAI
) -> None:
    openai_server.quirks = Quirks(context_tokens=100)

    with pytest.raises(openai.BadRequestError) as caught:
        await ask(client, messages=[{"role": "user", "content": "long " * 100}])

    assert caught.value.code == "context_length_exceeded"


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
