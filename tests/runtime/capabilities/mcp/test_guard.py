"""A server at an address: which addresses are called, what travels to them, and what their statuses mean."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from runtime.errors import (
    BusinessRefusal,
    CapabilityFailed,
    InvalidArguments,
    NetworkFault,
    PermissionRefused,
    surely_not,
)
from tests.fakes.http_service import Answer, Asked, HttpService
from tests.runtime.capabilities.mcp.conftest import Address, Open

pytestmark = pytest.mark.anyio
Serve = Callable[..., HttpService]


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers: list[HttpService] = []

    def start(answer: Callable[[Asked], Answer]) -> HttpService:
        servers.append(HttpService(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def speaking(calls: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    """Return a server of before 2026 that answers `tools/call` as it is told to."""

    def answer(asked: Asked) -> Answer:
        if asked.method != "POST":
            return Answer(status=405)
        request = json.loads(asked.body)
        match request["method"]:
            case "initialize":
                info = {"name": "s", "version": "1"}
                result: Any = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
                headers = {"Mcp-Session-Id": "session-0123456789"}
                return Answer(value={"jsonrpc": "2.0", "id": request["id"], "result": result}, headers=headers)
            case "tools/list":
                tools = [{"name": "echo", "inputSchema": {"type": "object"}}]
                return Answer(value={"jsonrpc": "2.0", "id": request["id"], "result": {"tools": tools}})
            case "tools/call":
                return calls(asked)
            case "server/discover":
                error = {"code": -32_601, "message": "Method not found"}
                return Answer(value={"jsonrpc": "2.0", "id": request["id"], "error": error})
        return Answer(status=202)

    return answer


async def test_a_private_address_is_refused_before_anything_is_sent(
    desk: Open, at_address: Callable[..., Address]
) -> None:
    with pytest.raises(PermissionRefused, match="allow_private: true") as raised:
        await desk(url=at_address().url).call("echo", text="a")

    assert surely_not(raised.value.facts)


async def test_a_redirect_to_another_address_is_not_followed(desk: Open, serve: Serve) -> None:
    other = serve(lambda asked: Answer())
    sent = serve(speaking(lambda asked: Answer(status=307, headers={"Location": f"{other.address}/mcp"})))
    with pytest.raises(PermissionRefused, match=r"sent the request elsewhere \(307\).*change `url`"):
        await desk(url=f"{sent.address}/mcp", allow_private=True).call("echo", text="a")

    assert other.asked == []


async def test_headers_travel_with_each_request_and_their_secrets_nowhere_else(desk: Open, serve: Serve) -> None:
    server = serve(speaking(lambda asked: Answer(status=403, value={"detail": "not you"})))
    headers = {"Authorization": {"secret": "DESK_TOKEN"}, "X-Team": "blue"}
    here = desk(url=server.address, allow_private=True, headers=headers, environment={"DESK_TOKEN": "a-long-secret"})
    with pytest.raises(PermissionRefused, match="not you") as raised:
        await here.call("echo", text="a")

    posted = [asked for asked in server.asked if asked.method == "POST"]
    assert {(asked.headers["Authorization"], asked.headers["X-Team"]) for asked in posted} == {
        ("a-long-secret", "blue")
    }
    assert "a-long-secret" not in f"{raised.value} {raised.value.facts} {here.tools['echo'].spec}"


@pytest.mark.parametrize(
    ("status", "error", "never"),
    [
        (401, PermissionRefused, True),
        (403, PermissionRefused, True),
        (422, InvalidArguments, True),
        (429, NetworkFault, True),
        (409, BusinessRefusal, True),
        (500, NetworkFault, False),
        (503, NetworkFault, False),
    ],
)
async def test_a_status_says_who_can_help_and_whether_anything_happened(
    desk: Open, serve: Serve, status: int, error: type[CapabilityFailed], never: bool
) -> None:
    server = serve(speaking(lambda asked: Answer(status=status, headers={"Retry-After": "7"})))
    with pytest.raises(error) as raised:
        await desk(url=server.address, allow_private=True).call("echo", text="a")

    assert surely_not(raised.value.facts) is never
    assert raised.value.facts.get("retry_after_s") == (7 if status in (429, 503) else None)
    assert sum(b'"tools/call"' in asked.body for asked in server.asked) == 1


@pytest.mark.parametrize("status", [400, 404])
async def test_an_expired_session_is_opened_again_once_and_the_call_made_once(
    desk: Open, serve: Serve, status: int
) -> None:
    def forgetful(asked: Asked) -> Answer:
        known = sum(b'"initialize"' in each.body for each in server.asked) == 2
        if not known:
            return Answer(status=status, value={"error": {"code": -32_000, "message": "No valid session"}})
        result = {"content": [{"type": "text", "text": "done"}]}
        return Answer(value={"jsonrpc": "2.0", "id": json.loads(asked.body)["id"], "result": result})

    server = serve(speaking(forgetful))
    here = desk(url=server.address, allow_private=True)

    assert (await here.call("echo", text="a")).output == {"text": "done"}
    assert here.server.status == "open, for the 2. time"


async def test_a_session_that_expires_again_and_again_is_told_as_that(desk: Open, serve: Serve) -> None:
    server = serve(speaking(lambda asked: Answer(status=404)))
    with pytest.raises(NetworkFault, match="no longer knows the session") as raised:
        await desk(url=server.address, allow_private=True).call("echo", text="a")

    assert surely_not(raised.value.facts)
    assert sum(b'"initialize"' in asked.body for asked in server.asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        Answer(value={"jsonrpc": "2.0", "id": "$id", "result": {"content": "nonsense"}}),
        Answer(value={"jsonrpc": "2.0", "id": 987, "result": {"content": []}}),
        Answer(value=["no", "message"]),
        Answer(status=202),
        Answer(hang_up=True),
    ],
)
async def test_an_answer_that_cannot_be_read_leaves_an_effect_in_doubt(
    desk: Open, serve: Serve, answer: Answer
) -> None:
    def answering(asked: Asked) -> Answer:
        if isinstance(answer.value, dict) and answer.value.get("id") == "$id":
            return replace(answer, value={**answer.value, "id": json.loads(asked.body)["id"]})
        return answer

    server = serve(speaking(answering))
    sha = (await desk(url=server.address, allow_private=True).server.tools())["echo"].sha256
    here = desk(url=server.address, allow_private=True, tools={"echo": {"effect": "write", "sha256": sha}})
    with pytest.raises(CapabilityFailed) as raised:
        await here.call("echo", text="a")

    assert not surely_not(raised.value.facts)
    assert sum(b'"tools/call"' in asked.body for asked in server.asked) == 1
