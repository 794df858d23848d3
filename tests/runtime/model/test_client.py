"""A model asked through the official client: whatever the endpoint makes of it, one answer of ours comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from contracts import Money
from runtime.errors import ModelRequired, NetworkFault
from runtime.ledger.store import SqlStore
from runtime.model.client import ModelClient, Terms
from runtime.model.endpoint import Endpoint
from runtime.model.limits import LocalLimiter
from runtime.model.port import Ending, ModelRequest
from runtime.model.prices import Price
from runtime.model.profiles import Profiles
from tests.fakes.model import calls, says
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.script import breaks_off, calls_as_written, cut, held, message, too_many
from tests.fakes.openai_server.server import MODEL, OpenAIServer, obliging

pytestmark = pytest.mark.anyio

LOOK = {
    "type": "function",
    "function": {
        "name": "desk.look",
        "description": "Looks.",
        "parameters": {
            "type": "object",
            "properties": {"at": {"type": "string"}, "deep": {"type": "boolean"}},
            "required": ["at"],
        },
    },
}
PRICE = Price(Money.parse("2 USD"), Money.parse("8 USD"))
Make = Callable[..., ModelClient]


def asks(**more: Any) -> ModelRequest:
    told = {"role": "reason", "messages": [{"role": "user", "content": "Look at the gate."}], "tools": (LOOK,)}
    return ModelRequest(**{**told, **more})


@pytest.fixture
async def client(sqlite_store: SqlStore) -> AsyncIterator[Make]:
    """Return what makes a client for a server, as each process of the organisation would."""
    async with AsyncExitStack() as opened:

        def make(server: OpenAIServer, *, stream: bool = True, prices: Any = None, at_once: int = 16) -> ModelClient:
            endpoint = Endpoint(server.base_url, None, stalled_s=5)
            opened.push_async_callback(endpoint.close)
            terms = Terms(most_tokens=500, context_tokens=8_000, stream=stream, prices=prices or {})
            return ModelClient(
                endpoint, {"reason": MODEL}, terms=terms, limiter=LocalLimiter(at_once),
                profiles=Profiles(sqlite_store.ledger, "org", server.base_url),
            )  # fmt: skip

        yield make


@pytest.fixture
def server() -> Any:
    """A server that keeps the protocol, and answers what is not scripted sensibly."""
    with _running(obliging()) as made:
        yield made


class _running:  # noqa: N801
    def __init__(self, server: OpenAIServer) -> None:
        self._server = server

    def __enter__(self) -> OpenAIServer:
        return self._server

    def __exit__(self, *_: object) -> None:
        self._server.stop()


KINDS = [
    {},
    {"calls": "never"},
    {"calls": "text"},
    {"calls": "text", "json_schema": "broken"},
    {"strict": "refused"},
    {"streams": False},
    {"stream_usage": "never"},
    {"parallel": False, "developer": "broken"},
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("quirks", KINDS, ids=str)
async def test_a_call_comes_back_as_one_from_any_endpoint(client: Make, quirks: dict[str, Any], stream: bool) -> None:
    with _running(obliging(quirks=Quirks(**quirks))) as server:
        asking = client(server, stream=stream)
        await asking.ask(asks())  # finds out about the endpoint
        server.plays(calls(("desk_look", {"at": "gate"})))
        answer = await asking.ask(asks())
    assert [(call.name, dict(call.arguments), call.fault) for call in answer.calls] == [
        ("desk.look", {"at": "gate"}, "")
    ]
    assert answer.ending is Ending.DONE


async def test_an_endpoint_is_found_out_about_once(client: Make, server: OpenAIServer) -> None:
    first, second = client(server), client(server)
    await asyncio.gather(*(first.ask(asks()) for _ in range(5)))
    asked = server.count()
    await second.ask(asks())
    assert server.count() == asked + 1


async def test_what_an_answer_took_is_told_with_its_price(client: Make, server: OpenAIServer) -> None:
    asking = client(server, prices={MODEL: PRICE})
    answer = await asking.ask(asks())
    tokens = answer.usage.tokens_in * 2 + answer.usage.tokens_out * 8
    (money,) = answer.usage.money
    assert money.amount * 1_000_000 == tokens > 0


async def test_what_an_endpoint_does_not_tell_is_reckoned(client: Make) -> None:
    with _running(obliging(quirks=Quirks(stream_usage="never"))) as server:
        answer = await client(server).ask(asks())
    assert answer.usage.tokens_in > 20
    assert answer.facts["usage_estimated"] is True


@pytest.mark.parametrize(("tokens_in", "tokens_out"), [(0, 0), (10**30, 10**30), (-1, True)])
async def test_what_cannot_be_is_not_believed(client: Make, tokens_in: int, tokens_out: int) -> None:
    with _running(obliging()) as server:
        asking = client(server, stream=False)
        await asking.ask(asks())
        server.plays(message(content="Hello.", usage={"prompt_tokens": tokens_in, "completion_tokens": tokens_out}))
        answer = await asking.ask(asks())
    assert 20 < answer.usage.tokens_in < 1_000
    assert answer.usage.tokens_out == 2
    assert answer.facts["usage_estimated"] is True


async def test_the_most_that_an_answer_takes_is_never_less_than_what_it_takes(
    client: Make, server: OpenAIServer
) -> None:
    asking = client(server, prices={MODEL: PRICE})
    most, took = asking.most(asks()), (await asking.ask(asks())).usage
    assert most.tokens_in >= took.tokens_in
    assert most.tokens_out >= took.tokens_out
    assert asking.most(asks(times=3)).tokens_out == 3 * most.tokens_out


async def test_a_price_that_nobody_knows_is_said(client: Make, server: OpenAIServer) -> None:
    assert client(server, prices={MODEL: PRICE}).price_fault("reason") is None
    assert MODEL in str(client(server).price_fault("reason"))


async def test_a_role_without_a_model_is_named(client: Make, server: OpenAIServer) -> None:
    with pytest.raises(ModelRequired, match="SILICON_MODEL__EMBED"):
        await client(server).ask(asks(role="embed"))


async def test_a_stream_that_always_ends_without_a_reason_is_asked_for_whole_from_then_on(
    client: Make, server: OpenAIServer
) -> None:
    asking = client(server)
    await asking.ask(asks())
    server.plays(breaks_off(says("half")), says("Whole."), says("Again."))
    broken = asks()
    with pytest.raises(NetworkFault, match="broke off"):
        await asking.ask(broken)
    whole, again = await asking.ask(asks()), await asking.ask(asks())
    assert (whole.content, again.content) == ("Whole.", "Again.")
    assert broken.course.took == asking.most(broken), "nobody told what that took"
    assert [asked.stream for asked in server.chats[-3:]] == [True, False, False]

    server.plays(says("Whole for others too."))
    await client(server).ask(asks())
    assert server.chats[-1].stream is False


async def test_a_stream_that_ended_well_meanwhile_takes_the_doubt_away(client: Make, server: OpenAIServer) -> None:
    asking = client(server)
    await asking.ask(asks())
    asked = len(server.chats)
    server.plays(held(says("In parts.")), breaks_off(says("half")), says("In parts again."))
    async with asyncio.TaskGroup() as group:
        group.create_task(asking.ask(asks()))
        await server.until(lambda: server.chats[-1].stream and len(server.chats) > asked)
        with pytest.raises(NetworkFault):
            await asking.ask(asks())
        server.release()
    await asking.ask(asks())
    assert server.chats[-1].stream is True


@pytest.mark.parametrize("fault", [cut(says("a b c d")), too_many(3)], ids=["cut", "busy"])
async def test_faults_are_the_engines_to_see(client: Make, server: OpenAIServer, fault: Any) -> None:
    asking = client(server)
    await asking.ask(asks())
    server.plays(fault)
    with pytest.raises(NetworkFault):
        await asking.ask(asks())


async def test_broken_arguments_are_told_as_such_and_never_read(client: Make, server: OpenAIServer) -> None:
    asking = client(server)
    await asking.ask(asks())
    server.plays(calls_as_written(("desk_look", '{"at": "ga')))
    (call,) = (await asking.ask(asks())).calls
    assert call.fault
    assert not call.arguments


async def test_an_answer_cut_at_the_limit_makes_no_call(client: Make, server: OpenAIServer) -> None:
    asking = client(server)
    await asking.ask(asks())
    server.plays(calls_as_written(("desk_look", '{"at": "gate"}'), finish="length"))
    answer = await asking.ask(asks())
    assert (answer.ending, list(answer.calls)) == (Ending.LENGTH, [])


async def test_more_room_is_asked_for_where_the_request_says_so(client: Make, server: OpenAIServer) -> None:
    asking = client(server)
    await asking.ask(asks(times=2))
    body = server.chats[-1].json
    assert body.get("max_completion_tokens", body.get("max_tokens")) == 1_000


async def test_so_many_requests_at_once(client: Make, server: OpenAIServer) -> None:
    asking = client(server, at_once=2)
    await asking.ask(asks())
    server.plays(*[held(says("Done."))] * 6)
    async with asyncio.TaskGroup() as group:
        for _ in range(6):
            group.create_task(asking.ask(asks()))
        await server.until(lambda: server.count() >= 2)
        server.release()
    assert server.most_at_once <= 6  # of the probe
    assert server.count() >= 6


async def test_a_tool_that_cannot_be_offered_is_left_out_and_told(client: Make, server: OpenAIServer) -> None:
    broken = {"type": "function", "function": {"name": "odd", "parameters": {"$ref": "#/nowhere"}}}
    answer = await client(server).ask(asks(tools=(LOOK, broken)))
    assert "odd" in str(answer.facts["dropped"])
    assert server.chats[-1].tool_names == ["desk_look"]


async def test_a_refusal_is_words_of_a_refusal(client: Make, server: OpenAIServer) -> None:
    asking = client(server, stream=False)
    await asking.ask(asks())
    server.plays(message(content=None, refusal="I will not."))
    answer = await asking.ask(asks())
    assert (answer.ending, answer.content) == (Ending.REFUSED, "I will not.")
