from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from runtime.capabilities.browser.proxy import FilteringProxy
from runtime.capabilities.browser.sites import Site, Sites

pytestmark = pytest.mark.anyio


class Desk:
    """A local service as the proxy sees it, and what it was sent."""

    def __init__(self) -> None:
        self.got = b""
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\nhi"
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.got = await reader.readuntil(b"\r\n\r\n")
        writer.write(self.answer)
        await writer.drain()
        writer.close()

    async def entrance(self) -> tuple[str, dict[str, str]]:
        return f"http://127.0.0.1:{self.port}", {"Authorization": "Bearer t0ken"}


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    server = await asyncio.start_server(desk.serve, "127.0.0.1", 0)
    desk.port = server.sockets[0].getsockname()[1]
    yield desk
    server.close()
    await server.wait_closed()


@pytest.fixture
async def proxy(desk: Desk, tmp_path: Path) -> AsyncIterator[FilteringProxy]:
    sites = [
        Site("desk", "desk", 80, service=desk),  # type: ignore[arg-type]
        Site("near", "127.0.0.1", desk.port, allow_private=True),
        Site("far", "localhost", desk.port),
    ]
    proxy = FilteringProxy(Sites(sites), transfer_mib=1)
    await proxy.listen(tmp_path)
    proxy.begin(acting=False)
    yield proxy
    await proxy.close()


Say = Callable[..., Awaitable[bytes]]


@pytest.fixture
def say(proxy: FilteringProxy, tmp_path: Path) -> Say:
    async def said(request: str, *, proof: str | None = None, then: bytes = b"") -> bytes:
        reader, writer = await asyncio.open_unix_connection(tmp_path / proxy.socket)
        known = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
        writer.write(f"{request}\r\nHost: x\r\nProxy-Authorization: Basic {proof or known}\r\n\r\n".encode() + then)
        async with asyncio.timeout(60):
            answer = await reader.read()
        writer.close()
        return answer

    return said


async def test_a_local_service_is_reached_under_its_name_with_a_token_that_only_the_proxy_has(
    say: Say, desk: Desk
) -> None:
    answer = await say("GET http://desk/board?day=1 HTTP/1.1\r\nAuthorization: Bearer mine\r\nAccept: text/html")

    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b"a=1") == answer.count(b"b=2") == 1
    assert desk.got.startswith(b"GET /board?day=1 HTTP/1.1\r\n")
    assert b"Bearer t0ken" in desk.got
    assert b"mine" not in desk.got
    assert b"roxy-" not in desk.got


async def test_whoever_does_not_know_the_password_gets_nowhere(say: Say, desk: Desk) -> None:
    answer = await say("GET http://desk/board HTTP/1.1", proof="bm9ib2R5Omtub3dz")

    assert answer.startswith(b"HTTP/1.1 407")
    assert desk.got == b""


@pytest.mark.parametrize("request_line", ["GET http://evil.example/ HTTP/1.1", "CONNECT evil.example:443 HTTP/1.1"])
async def test_a_host_that_nobody_declared_is_refused_and_remembered(
    say: Say, proxy: FilteringProxy, request_line: str
) -> None:
    assert (await say(request_line)).startswith(b"HTTP/1.1 403")
    assert [error.facts["host"] for error in proxy.refusals] == ["evil.example"]


async def test_a_private_address_is_refused_unless_its_connection_allows_it(say: Say, desk: Desk) -> None:
    assert (await say(f"GET http://127.0.0.1:{desk.port}/ HTTP/1.1")).startswith(b"HTTP/1.1 200")

    for way in ("GET http://localhost:{}/ HTTP/1.1", "CONNECT localhost:{} HTTP/1.1"):
        answer = await say(way.format(desk.port))
        assert answer.startswith(b"HTTP/1.1 403")
        assert b"allow_private" in answer


async def test_while_the_page_is_only_looked_at_nothing_but_looks_pass(
    say: Say, proxy: FilteringProxy, desk: Desk
) -> None:
    assert (await say("POST http://desk/waivers HTTP/1.1")).startswith(b"HTTP/1.1 403")
    assert desk.got == b""

    proxy.begin(acting=True)
    assert (await say("POST http://desk/waivers HTTP/1.1")).startswith(b"HTTP/1.1 200")


async def test_a_tunnel_carries_bytes_both_ways(say: Say, desk: Desk) -> None:
    answer = await say(f"CONNECT 127.0.0.1:{desk.port} HTTP/1.1", then=b"GET / HTTP/1.1\r\n\r\n")

    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n" + desk.answer
    assert desk.got == b"GET / HTTP/1.1\r\n\r\n"


async def test_a_local_service_has_no_tunnel(say: Say) -> None:
    answer = await say("CONNECT desk:80 HTTP/1.1")

    assert answer.startswith(b"HTTP/1.1 403")
    assert b"are opened as http://desk/" in answer


async def test_more_than_an_action_may_bring_is_cut_off_and_told(say: Say, proxy: FilteringProxy, desk: Desk) -> None:
    desk.answer = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2_000_000

    answer = await say("GET http://desk/big HTTP/1.1")

    assert len(answer) < 1_200_000
    assert proxy.overrun
    assert (await say("GET http://desk/more HTTP/1.1")).startswith(b"HTTP/1.1 403")


async def test_a_redirect_of_a_local_service_stays_under_its_name(say: Say, desk: Desk) -> None:
    desk.answer = (
        f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{desk.port}/new\r\nContent-Length: 0\r\n\r\n".encode()
    )

    assert b"ocation: http://desk/new\r\n" in await say("GET http://desk/old HTTP/1.1")


async def test_a_service_that_does_not_answer_is_told_as_that(say: Say, proxy: FilteringProxy, desk: Desk) -> None:
    desk.answer = b""

    assert (await say("GET http://desk/ HTTP/1.1")).startswith(b"HTTP/1.1 502")
    assert "gave no answer" in proxy.refusals[0].message


async def test_what_is_no_request_ends_the_connection(say: Say) -> None:
    assert await say("\x00\x01") == b""


async def test_the_socket_is_reached_however_long_the_path_of_the_folder_is(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    proxy = FilteringProxy(Sites([]), transfer_mib=1)
    await proxy.listen(folder)
    await proxy.close()

    assert (folder / proxy.socket).is_socket()
