"""What is found out about an endpoint is what it does, not what it accepts."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.errors import NetworkFault
from runtime.model.endpoint import Endpoint
from runtime.model.errors import ModelAccessRefused, ModelRefused
from runtime.model.probing import _Asking, probe
from runtime.model.profile import Calling, Profile
from tests.fakes.model import says
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.endpoint import sensible
from tests.fakes.openai_server.script import breaks_off, fails, hangs_up, too_many
from tests.fakes.openai_server.server import MODEL, OpenAIServer, obliging

pytestmark = pytest.mark.anyio


async def profile_of(server: OpenAIServer) -> Profile:
    endpoint = Endpoint(server.base_url, None, stalled_s=5)
    try:
        return await probe(endpoint, MODEL)
    finally:
        await endpoint.close()
        server.stop()


async def test_an_endpoint_that_keeps_the_protocol_has_all_of_it() -> None:
    assert await profile_of(obliging()) == Profile(developer=True, max_completion_tokens=False)


@pytest.mark.parametrize(
    ("quirks", "lacking"),
    [
        ({"calls": "never"}, "tools strict parallel must_call"),
        ({"calls": "text"}, "tools strict parallel must_call"),
        ({"json_schema": "ignored"}, "json_schema"),
        ({"json_schema": "broken"}, "json_schema"),
        ({"developer": "refused"}, "developer"),
        ({"developer": "broken"}, "developer"),
        ({"streams": False}, "streams stream_usage"),
        ({"stream_usage": "never"}, "stream_usage"),
        ({"refused": ["stream_options"]}, "stream_usage"),
        ({"strict": "refused"}, "strict parallel"),
        ({"strict": "broken"}, "strict parallel"),
        ({"obeys_tool_choice": False}, "must_call"),
        ({"refused": ["tools"]}, "tools strict parallel must_call"),
        ({"refused": ["tool_choice"]}, "strict parallel must_call"),
    ],
    ids=str,
)  # fmt: skip
async def test_what_is_refused_or_passed_over_is_not_supported(quirks: dict[str, Any], lacking: str) -> None:
    found = await profile_of(obliging(quirks=Quirks(**{**quirks, "refused": frozenset(quirks.get("refused", ()))})))
    assert {name for name, has in found.to_json().items() if has is False} - {"max_completion_tokens"} == set(
        lacking.split()
    )


@pytest.mark.parametrize("refused", ["max_tokens", "temperature", "max_tokens temperature"])
async def test_what_models_that_think_refuse_is_found_out(refused: str) -> None:
    found = await profile_of(obliging(quirks=Quirks(refused=frozenset(refused.split()))))
    assert found.max_completion_tokens is ("max_tokens" in refused.split())
    assert found.temperature is ("temperature" not in refused.split())
    assert found.tools


async def test_two_honest_endpoints_may_share_next_to_nothing() -> None:
    one = await profile_of(obliging(quirks=Quirks(calls="never", developer="broken")))
    other = await profile_of(obliging(quirks=Quirks(json_schema="broken", streams=False)))
    assert (one.calling, other.calling) == (Calling.SCHEMA, Calling.NATIVE)
    neither = await profile_of(obliging(quirks=Quirks(calls="never", json_schema="ignored")))
    assert neither.calling is Calling.TEXT


@pytest.mark.parametrize(
    "said",
    [{"context_length": 8192}, {"max_model_len": 8192}, {"meta": {"n_ctx_train": 8192}}, {"n_ctx": 8192}],
    ids=lambda said: next(iter(said)),
)
async def test_how_much_a_request_may_hold_is_read_where_it_is_told(said: dict[str, Any]) -> None:
    assert (await profile_of(obliging(models={MODEL: said}))).context_tokens == 8192


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(fails(401, "Who?"), ModelAccessRefused), (fails(404, "No."), ModelRefused), (fails(500), NetworkFault)],
    ids=["key", "model", "broken"],
)
async def test_an_endpoint_that_cannot_be_asked_at_all_is_no_profile(
    openai_server: OpenAIServer, answer: Any, kind: type[Exception]
) -> None:
    openai_server.plays(answer)
    endpoint = Endpoint(openai_server.base_url, None, stalled_s=5)
    with pytest.raises(kind):
        await probe(endpoint, MODEL)
    await endpoint.close()


@pytest.mark.parametrize("passing", [too_many(3), fails(503)], ids=["busy", "overloaded"])
@pytest.mark.parametrize("part", ["tools", "schema", "stream", "developer"])
async def test_what_passes_by_itself_is_no_lack(openai_server: OpenAIServer, passing: Any, part: str) -> None:
    openai_server.plays(passing)
    endpoint = Endpoint(openai_server.base_url, None, stalled_s=5)
    with pytest.raises(NetworkFault):
        await getattr(_Asking(endpoint, MODEL), part)()
    await endpoint.close()


async def test_streams_that_end_without_saying_why_are_none() -> None:
    server = obliging()
    server.when(lambda asked: asked.stream, breaks_off(says("Hello.")))
    found = await profile_of(server)
    assert (found.streams, found.stream_usage, found.tools) == (False, False, True)


FEATURES = {
    "tools": ("tools strict parallel must_call", ["tools"]),
    "schema": ("json_schema", ["response_format"]),
    "usage of streams": ("stream_usage", ["stream_options"]),
    "streams": ("streams stream_usage", ["stream"]),
    "parallel calls": ("strict parallel", ["parallel_tool_calls"]),
    "all of them": (
        "tools strict parallel must_call json_schema streams stream_usage", ["tools", "response_format", "stream"]
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lacking", "names"), FEATURES.values(), ids=FEATURES)
async def test_an_endpoint_that_hangs_up_on_what_it_lacks_is_not_away(lacking: str, names: list[str]) -> None:
    found = await profile_of(obliging(quirks=Quirks(hangs_up_on=frozenset(names))))
    assert {name for name, has in found.to_json().items() if has is False} - {"max_completion_tokens"} == set(
        lacking.split()
    )


PARTS: list[tuple[str, Any]] = [
    ("tools", {"tools": True, "strict": True, "parallel": True, "must_call": True}),
    ("schema", True),
    ("stream", {"streams": True, "stream_usage": True}),
    ("developer", True),
]


@pytest.mark.parametrize(("part", "has"), PARTS, ids=[part for part, _ in PARTS])
async def test_one_that_hung_up_once_is_asked_again(openai_server: OpenAIServer, part: str, has: Any) -> None:
    openai_server.plays(hangs_up())
    openai_server.otherwise = sensible
    endpoint = Endpoint(openai_server.base_url, None, stalled_s=5)
    assert await getattr(_Asking(endpoint, MODEL), part)() == has
    await endpoint.close()


@pytest.mark.parametrize("before", [0, 1], ids=["at once", "meanwhile"])
@pytest.mark.parametrize("part", [part for part, _ in PARTS])
async def test_one_that_hangs_up_on_the_plainest_request_too_is_away(
    openai_server: OpenAIServer, part: str, before: int
) -> None:
    openai_server.plays(*[hangs_up(), says("Hello.")] * before, hangs_up(), hangs_up())
    endpoint = Endpoint(openai_server.base_url, None, stalled_s=5)
    with pytest.raises(NetworkFault):
        await getattr(_Asking(endpoint, MODEL), part)()
    assert openai_server.count() == 2 + 2 * before
    await endpoint.close()


async def test_a_probe_is_a_few_short_requests() -> None:
    server = obliging()
    await profile_of(server)
    assert server.count() <= 6
    assert all(len(asked.body) < 1_500 for asked in server.chats)
