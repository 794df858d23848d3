"""`http.get` and `http.send` at real servers."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from contracts import EvidenceKind
from runtime.capabilities.connections import read_connection
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.web.capability import Web, web_capabilities
from runtime.errors import BusinessRefusal, InvalidArguments, NetworkFault, PermissionRefused, surely_not
from runtime.settings import HttpSettings
from tests.fakes.calls import a_call
from tests.fakes.http_service import Answer, Asked
from tests.fakes.http_service import HttpService as Server

pytestmark = pytest.mark.anyio

Serve = Callable[..., Server]
Call = Callable[..., Any]


@pytest.fixture
async def web() -> AsyncIterator[Callable[..., Router]]:
    made: list[Web] = []

    def of(*hosts: str, **declared: Any) -> Router:
        connection = read_connection({"kind": "hosts", "hosts": hosts, "allow_private": True, **declared})
        secrets = Secrets({"RATES_TOKEN": "s3cret"}, Path("/nowhere"))
        settings = HttpSettings(timeout_s=5, response_kib=64, redirects=2)
        made.append(Web({"rates": connection}, settings, secrets))
        return Router(Registry(web_capabilities(made[-1])))

    yield of
    for each in made:
        await each.close()


def at(server: Server) -> str:
    return f"127.0.0.1:{server.server_port}"


async def get(router: Router, url: str, **given: Any) -> Any:
    return await router.call("http.get", {"url": url, **given}, a_call(), timeout_s=None)


async def send(router: Router, url: str, **given: Any) -> Any:
    return await router.call("http.send", {"url": url, **given}, a_call(), timeout_s=None)


async def test_what_is_read_comes_with_where_it_is_from_and_the_hash_of_all_of_it(serve: Serve, web: Call) -> None:
    server = serve(value={"rate": 1.5})
    result = await get(web(at(server)), f"{server.address}/r?a=1", query={"day": "2013-02-08", "x": [1, "&"]})

    assert server.asked[0].path == "/r?a=1&day=2013-02-08&x=1&x=%26"
    assert (result.output["json"], result.output["text"], result.output["status"]) == ({"rate": 1.5}, None, 200)
    assert result.data_sha256 == result.output["sha256"]
    assert result.evidence[0].kind is EvidenceKind.CALL


@pytest.mark.parametrize(
    ("raw", "media_type", "text"),
    [
        ("Zürich".encode("latin-1"), "text/html; charset=ISO-8859-1", "Zürich"),
        ("a\n".encode("utf-16"), "text/csv", "a\n"),
        (b"a\xff\x00b", "text/plain; charset=martian", "a�␀b"),
        (b'{"n": 12345678901234567890123, "x": NaN}', "text/plain", '{"n": 12345678901234567890123, "x": NaN}'),
        (b"plain", "", "plain"),
        (b"", "text/plain", ""),
    ],
)
async def test_text_in_any_encoding_comes_as_text(
    serve: Serve, web: Call, raw: bytes, media_type: str, text: str
) -> None:
    server = serve(raw=raw, media_type=media_type)

    assert (await get(web(at(server)), server.address)).output["text"] == text


@pytest.mark.parametrize("raw", [b'{"n": 12345678901234567890123, "x": NaN, "t": "a\\u0000\\ud800b"}', b"[1]", b"3"])
async def test_json_of_any_kind_can_be_stored(serve: Serve, web: Call, raw: bytes) -> None:
    server = serve(raw=raw)
    output = (await get(web(at(server)), server.address)).output

    assert json.dumps(output, allow_nan=False).encode()
    assert output["json"] is not None


async def test_a_picture_becomes_a_file_with_evidence(serve: Serve, web: Call) -> None:
    server = serve(raw=b"\x89PNG\r\n\0", media_type="image/png")
    result = await get(web(at(server)), f"{server.address}/maps/../plan%20b.png?x=/y")

    (file,) = result.files
    assert (file.name, file.media_type, file.data) == ("plan-20b.png", "image/png", b"\x89PNG\r\n\0")
    assert result.output["files"][0]["sha256"] == result.evidence[1].sha256
    assert result.output["text"] is None


async def test_head_tells_what_there_is_and_brings_nothing(serve: Serve, web: Call) -> None:
    server = serve(raw=b"\x89PNG\r\n\0", media_type="image/png")
    result = await get(web(at(server)), server.address, method="HEAD")

    assert (server.asked[0].method, result.output["media_type"], result.files) == ("HEAD", "image/png", ())
    assert (result.output["size"], result.output["text"]) == (0, "")


async def test_what_is_too_large_is_refused_and_not_cut(serve: Serve, web: Call) -> None:
    server = serve(raw=b"x" * 65_537, media_type="text/plain")

    with pytest.raises(BusinessRefusal, match="more than 64 KiB"):
        await get(web(at(server)), server.address)


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/", "http://rates.example:8080/", "http://rates.example.evil.example/", "http://[::1]/"],
)
async def test_a_host_that_nobody_lists_is_not_called(web: Call, url: str) -> None:
    with pytest.raises(PermissionRefused, match="no connection of kind hosts lists it") as raised:
        await get(web("rates.example"), url)

    assert surely_not(raised.value.facts)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://ann:pw@rates.example/", "rates.example/x", "http://rates.example\\@x/", ""]
)
async def test_what_is_no_address_is_not_called(web: Call, url: str) -> None:
    with pytest.raises(InvalidArguments, match="is not an address that can be called"):
        await get(web("rates.example"), url)


async def test_a_listed_name_that_leads_inside_is_refused_each_time_anew(
    serve: Serve, web: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()

    async def resolve(loop: Any, host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.server_port))]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolve)
    router = web("rates.example", f"rates.example:{server.server_port}", allow_private=False)

    for url in ("http://rates.example/", f"http://rates.example:{server.server_port}/"):
        with pytest.raises(PermissionRefused, match="inside a private network"):
            await get(router, url)
    assert not server.asked


async def test_a_redirect_is_followed_within_the_lists_and_not_out_of_them(serve: Serve, web: Call) -> None:
    outside = serve()
    places = {"/a": "/b", "/b": "c", "/out": outside.address, "/loop": "/loop"}

    def answer(asked: Asked) -> Answer:
        place = places.get(asked.path)
        return Answer(302, headers={"Location": place}) if place else Answer(value={"at": asked.path})

    server = serve(answer)
    router = web(at(server))

    assert (await get(router, f"{server.address}/a")).output["url"] == f"{server.address}/c"
    with pytest.raises(PermissionRefused, match="lists it"):
        await get(router, f"{server.address}/out")
    with pytest.raises(BusinessRefusal, match="more than 2 times"):
        await get(router, f"{server.address}/loop")
    assert not outside.asked


async def test_secrets_go_to_their_own_hosts_alone(serve: Serve, web: Call) -> None:
    other = serve()
    server = serve(lambda asked: Answer(302, headers={"Location": f"{other.address}/x"}))
    secret = {"hosts": [at(server)], "headers": {"X-Token": {"secret": "RATES_TOKEN"}}}
    connections = {
        "rates": read_connection({"kind": "hosts", "allow_private": True, **secret}),
        "other": read_connection({"kind": "hosts", "allow_private": True, "hosts": [at(other)]}),
    }
    hosts = Web(connections, HttpSettings(), Secrets({"RATES_TOKEN": "s3cret"}, Path("/nowhere")))
    await get(Router(Registry(web_capabilities(hosts))), server.address)
    await hosts.close()

    assert server.asked[0].headers["X-Token"] == "s3cret"
    assert "X-Token" not in other.asked[0].headers


async def test_secrets_are_not_sent_in_the_clear(web: Call) -> None:
    router = web("rates.example", allow_private=False, headers={"X-Token": {"secret": "RATES_TOKEN"}})

    with pytest.raises(PermissionRefused, match="never sent without TLS"):
        await get(router, "http://rates.example/")


async def test_what_is_sent_carries_the_key_of_the_step_and_is_a_receipt(serve: Serve, web: Call) -> None:
    server, context = serve(status=201, value={"id": 7}), a_call()
    given = {"url": f"{server.address}/orders", "body": {"n": 1}, "method": "PUT"}
    result: Any = await web(at(server)).call("http.send", given, context, timeout_s=None)

    (asked,) = server.asked
    assert (asked.method, json.loads(asked.body), asked.headers["Idempotency-Key"]) == ("PUT", {"n": 1}, context.key)
    assert (result.output["json"], result.evidence[0].kind) == ({"id": 7}, EvidenceKind.RECEIPT)


async def test_text_is_sent_as_what_it_is_said_to_be(serve: Serve, web: Call) -> None:
    server = serve()
    await send(web(at(server)), server.address, text="a;b", media_type="text/csv")

    assert (server.asked[0].body, server.asked[0].headers["Content-Type"]) == (b"a;b", "text/csv")
    with pytest.raises(InvalidArguments, match="not both"):
        await send(web(at(server)), server.address, text="a", body={})
    with pytest.raises(InvalidArguments, match="one line"):
        await send(web(at(server)), server.address, text="a", media_type="text/csv\r\nX-Admin: 1")


async def test_a_redirect_of_what_changes_something_leaves_open_whether_it_did(serve: Serve, web: Call) -> None:
    server = serve(status=303, headers={"Location": "/done"})

    with pytest.raises(PermissionRefused, match="Whether it took place is not known") as raised:
        await send(web(at(server)), server.address, body={})
    assert not surely_not(raised.value.facts)
    assert len(server.asked) == 1


async def test_an_answer_that_is_lost_says_that_something_was_sent(serve: Serve, web: Call) -> None:
    server = serve(hang_up=True)

    with pytest.raises(NetworkFault, match="the request was sent") as raised:
        await send(web(at(server)), server.address, body={})
    assert not surely_not(raised.value.facts)


@pytest.mark.parametrize(("method", "tool"), [("DELETE", "http.get"), ("GET", "http.send")])
async def test_reading_cannot_send_and_sending_is_never_taken_for_reading(web: Call, method: str, tool: str) -> None:
    with pytest.raises(InvalidArguments, match="must be one of"):
        await web("rates.example").call(
            tool, {"url": "https://rates.example/", "method": method}, a_call(), timeout_s=None
        )
