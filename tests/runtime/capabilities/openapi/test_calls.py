"""Operations of an OpenAPI document, called at a real service."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.organisation.yaml_source import read_yaml
from runtime.capabilities.connections import OpenApiConnection
from runtime.capabilities.http import HttpOperation, HttpService, http_capabilities
from runtime.capabilities.openapi.reading import completed, connection_of
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.capabilities.secrets import Secrets
from runtime.errors import InvalidArguments, PermissionRefused, surely_not
from runtime.settings import HttpSettings
from tests.fakes.calls import a_call
from tests.fakes.http_service import Answer, Asked
from tests.fakes.http_service import HttpService as Server

pytestmark = pytest.mark.anyio

DESK = read_yaml("desk.yaml", (Path(__file__).parent / "desk.yaml").read_text()).value
ENTRIES = {
    "list_flights": {"operation": "listFlights"},
    "flight": {"operation": "getFlight"},
    "move": {"operation": "moveFlight", "effect": "write", "lookup": "/moves/{key}"},
    "drop": {"operation": "dropFlight", "effect": "write", "lookup": "/drops/{key}"},
    "note": {"operation": "addNotes", "effect": "write", "lookup": "/notes/{key}"},
}
FLIGHT = {"id": "no uuid", "legs": [{"to": "JFK"}], "gate": None}
Ask = Callable[..., HttpOperation]


@pytest.fixture
def server() -> Iterator[Server]:
    def answer(asked: Asked) -> Answer:
        one = {"text": "late"} if asked.path.endswith("/notes") else FLIGHT
        return Answer(value=[FLIGHT] if asked.path.startswith("/flights?") else one)

    started = Server(answer)
    yield started
    started.stop()


@pytest.fixture
async def operation(server: Server) -> AsyncIterator[Ask]:
    services: list[HttpService] = []

    def make(name: str, **changes: Any) -> HttpOperation:
        told = {"kind": "http", "base": server.address, "allow_private": True, "openapi": "desk.yaml", **changes}
        declared = OpenApiConnection.model_validate({**told, "operations": ENTRIES})
        connection = connection_of(declared, completed(declared, DESK).operations)
        secrets = Secrets({"DESK_TOKEN": "s3cret"}, Path("/nowhere"))
        service, found = http_capabilities("desk", connection, settings=HttpSettings(timeout_s=5), secrets=secrets)
        services.append(service)
        return next(each for each in found if each.spec.name == f"desk.{name}")

    yield make
    for service in services:
        await service.close()


async def test_arguments_go_into_the_query_as_the_document_says(server: Server, operation: Ask) -> None:
    given = {"day": "2013-02-08", "carrier": ["UA", "B6"], "airports": ["JFK", "EWR"], "page_size": 5}
    result = await operation("list_flights").call(given, a_call())

    assert server.asked[0].path == ("/flights?day=2013-02-08&carrier=UA&carrier=B6&airports=JFK%2CEWR&page%5Bsize%5D=5")
    assert result.output == {"items": [FLIGHT]}


async def test_arguments_go_into_path_header_and_body(server: Server, operation: Ask) -> None:
    given = {"flight-id": "a/b", "X-Trace": "t-1", "gate": "B22", "revision": 3, "body_flight-id": "b", "reason": None}
    await operation("move").call(given, a_call())

    (asked,) = server.asked
    assert (asked.method, asked.path, asked.headers["X-Trace"]) == ("PUT", "/flights/a%2Fb", "t-1")
    assert json.loads(asked.body) == {"gate": "B22", "revision": 3, "flight-id": "b"}


async def test_a_body_that_is_a_list_is_one_argument(server: Server, operation: Ask) -> None:
    await operation("note").call({"flight-id": "1", "body": [{"text": "late"}]}, a_call())

    assert json.loads(server.asked[0].body) == [{"text": "late"}]


async def test_a_body_that_may_be_absent_is(server: Server, operation: Ask) -> None:
    await operation("note").call({"flight-id": "1"}, a_call())

    assert (server.asked[0].body, "Content-Type" in server.asked[0].headers) == (b"", False)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"gate": "b22"}, "gate"),
        ({"revision": 0}, "revision"),
        ({"reason": "mood"}, "reason"),
        ({"X-Trace": "a\r\nX-Admin: 1"}, "the header X-Trace takes plain text on one line"),
        ({"flight-id": ".."}, "needs a value for flight-id"),
    ],
)
async def test_what_the_document_does_not_allow_is_not_sent(
    server: Server, operation: Ask, changed: dict[str, Any], told: str
) -> None:
    router, given = Router(Registry([operation("move")])), {"flight-id": "1", "gate": "B22", "revision": 1, **changed}
    with pytest.raises(InvalidArguments, match=told) as raised:
        await router.call("desk.move", given, a_call(), timeout_s=None)

    assert surely_not(raised.value.facts)
    assert not server.asked


async def test_the_connection_s_headers_are_no_arguments(server: Server, operation: Ask) -> None:
    move = operation("move", headers={"X-Trace": {"secret": "DESK_TOKEN"}})
    context = a_call()
    await move.call({"flight-id": "1", "gate": "B22", "revision": 1}, context)

    assert move.spec.parameters.keys().isdisjoint({"X-Trace", "Authorization", "Idempotency-Key"})
    assert server.asked[0].headers["X-Trace"] == "s3cret"
    assert server.asked[0].headers["Idempotency-Key"] == context.key


async def test_private_addresses_are_refused_as_for_any_service(server: Server, operation: Ask) -> None:
    with pytest.raises(PermissionRefused):
        await operation("flight", allow_private=False).call({"flight-id": "1"}, a_call())

    assert not server.asked
