from __future__ import annotations

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from contracts import EvidenceKind
from runtime.capabilities.connections import HttpConnection, read_connection
from runtime.capabilities.http import HttpOperation, HttpService, http_capabilities
from runtime.capabilities.http_answer import retry_after_s
from runtime.capabilities.http_guard import is_public
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.specs import operation_spec
from runtime.errors import (
    AccessDenied,
    BusinessRefusal,
    CapabilityFailed,
    InvalidArguments,
    NetworkFault,
    PermissionRefused,
    surely_not,
)
from runtime.settings import HttpSettings
from tests.fakes.calls import a_call
from tests.fakes.http_service import Answer, Asked
from tests.fakes.http_service import HttpService as Server

pytestmark = pytest.mark.anyio

OPERATIONS = {
    "waive": {"method": "POST", "path": "/waivers", "effect": "irreversible", "lookup": "/effects/{key}"},
    "passenger": {"method": "GET", "path": "/passengers/{id}"},
}
SETTINGS = HttpSettings(timeout_s=2, response_kib=16)
Serve = Callable[..., Server]
Ask = Callable[..., HttpOperation]


@pytest.fixture
async def operation() -> AsyncIterator[Ask]:
    services: list[HttpService] = []

    def make(base: str, name: str = "waive", **changes: Any) -> HttpOperation:
        settings = changes.pop("settings", SETTINGS)
        declared = {"kind": "http", "base": base, "allow_private": True, "operations": OPERATIONS, **changes}
        connection = read_connection(declared)
        assert isinstance(connection, HttpConnection)
        secrets = Secrets({"DESK_TOKEN": "s3cret"}, Path("/nowhere"))
        service, found = http_capabilities("desk", connection, settings=settings, secrets=secrets)
        services.append(service)
        return next(each for each in found if each.spec.name == f"desk.{name}")

    yield make
    for service in services:
        await service.close()


async def test_a_call_sends_its_arguments_with_the_key_of_the_step(serve: Serve, operation: Ask) -> None:
    server, context = serve(value={"id": "w1"}), a_call()
    result = await operation(server.address).call({"day": "2013-02-08", "flights": 3}, context)

    (asked,) = server.asked
    assert (asked.method, asked.path, json.loads(asked.body)) == (
        "POST",
        "/waivers",
        {"day": "2013-02-08", "flights": 3},
    )
    assert asked.headers["Idempotency-Key"] == context.key
    assert result.output == {"id": "w1"}
    assert result.evidence[0].kind is EvidenceKind.RECEIPT


async def test_a_path_argument_is_quoted_whole(serve: Serve, operation: Ask) -> None:
    server = serve()
    await operation(server.address, "passenger").call({"id": "../a b?c", "full": True}, a_call())

    assert server.asked[0].path == "/passengers/..%2Fa%20b%3Fc?full=true"


@pytest.mark.parametrize("value", [None, "", "..", "."])
async def test_a_path_argument_cannot_change_the_path(serve: Serve, operation: Ask, value: str | None) -> None:
    with pytest.raises(InvalidArguments, match="needs a value for id"):
        await operation(serve().address, "passenger").call({"id": value}, a_call())


async def test_a_secret_travels_in_the_header_and_nowhere_else(serve: Serve, operation: Ask) -> None:
    server = serve(status=403, value={"detail": "no"})
    desk = operation(server.address, headers={"X-Token": {"secret": "DESK_TOKEN"}})
    with pytest.raises(PermissionRefused) as raised:
        await desk.call({}, a_call())

    assert server.asked[0].headers["X-Token"] == "s3cret"
    assert "s3cret" not in f"{raised.value} {raised.value.facts} {desk.spec}"


async def test_a_secret_that_is_not_set_says_where_it_is_looked_for(serve: Serve, operation: Ask) -> None:
    with pytest.raises(PermissionRefused, match="environment variable NONE or the file") as raised:
        await operation(serve().address, headers={"X-Token": {"secret": "NONE"}}).call({}, a_call())

    assert surely_not(raised.value.facts)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, InvalidArguments),
        (422, InvalidArguments),
        (401, AccessDenied),
        (403, AccessDenied),
        (404, BusinessRefusal),
        (409, BusinessRefusal),
        (418, BusinessRefusal),
        (302, PermissionRefused),
        (500, NetworkFault),
    ],
)
async def test_a_status_says_who_can_help(
    serve: Serve, operation: Ask, status: int, error: type[CapabilityFailed]
) -> None:
    server = serve(
        status=status, value={"detail": "the words of the service"}, headers={"Location": "http://10.0.0.1/"}
    )
    with pytest.raises(error) as raised:
        await operation(server.address).call({}, a_call())

    assert type(raised.value) is error
    assert raised.value.facts["status"] == status
    assert surely_not(raised.value.facts) == (400 <= status < 418 or status == 422)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_service_says_how_long_to_wait(serve: Serve, operation: Ask, status: int) -> None:
    server = serve(status=status, headers={"Retry-After": "7"})
    with pytest.raises(NetworkFault, match="asks to wait 7 s") as raised:
        await operation(server.address).call({}, a_call())

    assert raised.value.facts["retry_after_s"] == 7
    assert surely_not(raised.value.facts) == (status == 429)


def test_a_date_in_retry_after_is_seconds_from_now() -> None:
    assert retry_after_s("Fri, 08 Feb 2013 17:00:00 GMT") == 0
    assert retry_after_s("Fri, 08 Feb 2013 17:00:00 -0000") == 0


@pytest.mark.parametrize("header", ["soon", "", "²", "-5", "Fri, 99 Feb 2013 17:00:00 GMT"])
def test_a_retry_after_that_cannot_be_read_says_nothing(header: str) -> None:
    assert retry_after_s(header) is None


def test_a_retry_after_without_end_stays_a_number() -> None:
    assert retry_after_s("9" * 400) == 366 * 86_400


async def test_without_a_connection_nothing_was_sent(operation: Ask) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(NetworkFault, match="Nothing was sent") as raised:
        await operation(address).call({}, a_call())

    assert surely_not(raised.value.facts)


async def test_a_connection_cut_after_the_request_may_have_had_its_effect(serve: Serve, operation: Ask) -> None:
    with pytest.raises(NetworkFault) as raised:
        await operation(serve(hang_up=True).address).call({}, a_call())

    assert not surely_not(raised.value.facts)


async def test_an_answer_that_comes_too_late_may_have_had_its_effect(operation: Ask) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        desk = operation(f"http://127.0.0.1:{deaf.getsockname()[1]}", settings=HttpSettings(timeout_s=1))
        with pytest.raises(NetworkFault) as raised:
            await desk.call({}, a_call())

    assert not surely_not(raised.value.facts)


async def test_an_answer_that_is_too_large_is_not_read(serve: Serve, operation: Ask) -> None:
    with pytest.raises(BusinessRefusal, match="more than 16 KiB") as raised:
        await operation(serve(value={"a": "x" * 100_000}).address).call({}, a_call())

    assert not surely_not(raised.value.facts)


@pytest.mark.parametrize(
    ("raw", "media_type"), [(b"<html>", "text/html"), (b"{", "application/json"), (b"1", "application/json")]
)
async def test_an_answer_that_is_no_json_object_is_told(
    serve: Serve, operation: Ask, raw: bytes, media_type: str
) -> None:
    with pytest.raises(BusinessRefusal, match="not a JSON object") as raised:
        await operation(serve(raw=raw, media_type=media_type).address).call({}, a_call())

    assert not surely_not(raised.value.facts)


async def test_a_look_up_finds_the_result_of_the_key_or_nothing(serve: Serve, operation: Ask) -> None:
    def answer(asked: Asked) -> Answer:
        return Answer(value={"id": "w1"}) if "01J9" in asked.path else Answer(status=404)

    server = serve(answer)
    desk = operation(server.address)

    found = await desk.lookup("order/01J9:act[0]", a_call())
    assert found is not None
    assert found.output == {"id": "w1"}
    assert server.asked[0].path == "/effects/order%2F01J9%3Aact%5B0%5D"
    assert await desk.lookup("order/other", a_call()) is None


async def test_an_address_inside_this_machine_is_refused_unless_allowed(serve: Serve, operation: Ask) -> None:
    server = serve()
    for base in (server.address, f"http://localhost:{server.server_port}"):
        with pytest.raises(PermissionRefused, match="allow_private: true"):
            await operation(base, allow_private=False).call({}, a_call())

    assert server.asked == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:10.0.0.1", False),
        ("fd00:ec2::254", False),
        ("224.0.0.1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_only_addresses_of_the_public_internet_are_public(address: str, public: bool) -> None:
    assert is_public(address) == public


@pytest.fixture
def certified(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server that proves to be desk.example, a name that leads to this machine."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=desk.example", "-addext", "subjectAltName=DNS:desk.example"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *subject]
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    server = serve(value={"id": "w1"})
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    look_up = asyncio.BaseEventLoop.getaddrinfo

    async def to_this_machine(loop: Any, host: str, *rest: Any, **named: Any) -> Any:
        return await look_up(loop, "127.0.0.1" if host.endswith(".example") else host, *rest, **named)

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", to_this_machine)
    return server


async def test_a_certificate_is_checked_against_the_declared_name(certified: Server, operation: Ask) -> None:
    result = await operation(f"https://desk.example:{certified.server_port}").call({}, a_call())
    with pytest.raises(NetworkFault, match="Hostname mismatch"):
        await operation(f"https://other.example:{certified.server_port}").call({}, a_call())

    assert result.output == {"id": "w1"}
    assert certified.asked[0].headers["Host"] == f"desk.example:{certified.server_port}"


def test_whatever_changes_what_a_call_does_changes_its_hash() -> None:
    def spec(**changes: Any) -> str:
        operation = {"method": "POST", "path": "/waivers", "effect": "write", **changes}
        connection = read_connection(
            {"kind": "http", "base": "https://desk.example", "operations": {"waive": operation}}
        )
        assert isinstance(connection, HttpConnection)
        return operation_spec("desk", connection, "waive").sha256

    assert spec() == spec(description="Other words.")
    changed: list[dict[str, Any]] = [
        {"method": "PUT"},
        {"path": "/x"},
        {"effect": "irreversible"},
        {"parameters": {"a": "string"}},
    ]
    assert len({spec(), *(spec(**change) for change in changed)}) == 5


def test_an_operation_that_writes_must_declare_its_effect() -> None:
    with pytest.raises(ValueError, match="needs `effect`"):
        read_connection(
            {"kind": "http", "base": "https://a.example", "operations": {"a": {"method": "POST", "path": "/"}}}
        )
