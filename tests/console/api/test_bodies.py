"""A body comes in bounded, strict and clean, or not at all; and whatever comes, a problem is told, never a crash."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.api.bodies import deeper_than
from tests.console.api.conftest import GOAL, Served, serve

pytestmark = pytest.mark.anyio
JSON = {"Content-Type": "application/json"}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def depth_of(value: Any) -> int:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if below is None else 1 + max(map(depth_of, below), default=0)


@given(values, st.integers(0, 6), st.booleans())
def test_depth_is_that_of_the_brackets_outside_strings(value: Any, limit: int, escaped: bool) -> None:
    body = json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")

    assert deeper_than(limit, body) == (depth_of(value) > limit)


@given(st.binary(max_size=200) | st.text(alphabet='[]{}"\\a', max_size=200).map(str.encode))
def test_depth_of_what_is_no_json_is_found_without_a_crash(body: bytes) -> None:
    assert deeper_than(0, body) in (True, False)


async def test_a_body_at_its_limits_passes_and_beyond_them_is_refused(tmp_path: Path) -> None:
    async with serve(tmp_path, request_kib=4, request_depth=5) as served, served.client() as client:
        fits = {**GOAL, "organisation": "desk", "parameters": {"deep": [[[]]]}}
        deep = {**fits, "parameters": {"deep": [[[[]]]]}}
        for body, status, code in (
            (json.dumps(fits), 422, "INVALID_ARGUMENTS"),  # no such parameter, but it got as far as that
            (json.dumps(deep), 400, "BODY_TOO_DEEP"),
            (json.dumps(fits).ljust(4_096), 422, "INVALID_ARGUMENTS"),
            (json.dumps(fits).ljust(4_097), 413, "BODY_TOO_LARGE"),
            ("[" * 4_000, 400, "BODY_TOO_DEEP"),
        ):
            response = await client.post("/executions", content=body, headers=JSON)
            assert (response.status_code, response.json()["code"]) == (status, code), body[:80]


async def test_a_body_without_a_length_is_not_read_past_its_limit(tmp_path: Path) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 65_536
            await asyncio.sleep(0)

    async with serve(tmp_path, request_kib=64) as served, served.client() as client, asyncio.timeout(20):
        try:
            response = await client.post("/executions", content=endless(), headers=JSON)
        except (httpx.WriteError, httpx.ReadError):
            return  # the server closed while the client was still sending
        assert (response.status_code, response.json()["code"]) == (413, "BODY_TOO_LARGE")


MALFORMED = [
    b"{",
    b"nonsense",
    b'{"goal": "a", "goal": "b"}',
    b'{"goal": NaN}',
    b'{"goal": -Infinity}',
    b'{"goal": "\xff"}',
    b'{"goal": "' + b"\x00" + b'"}',
    '{"goal": "x"}'.encode("utf-16"),
    b'{"parameters": {"days": ' + b"9" * 5_000 + b"}}",
    b'{"parameters": {"days": 1e400}}',
    b'{"parameters": {"days": [{"x": -1e400}]}}',
]


async def test_what_is_no_strict_json_is_refused(served: Served) -> None:
    async with served.client() as client:
        for body in MALFORMED:
            response = await client.post("/executions", content=body, headers=JSON)
            assert (response.status_code, response.json()["code"]) == (400, "MALFORMED_BODY"), body[:40]


async def test_a_number_that_cannot_be_held_is_named_in_plain_words(served: Served) -> None:
    async with served.client() as client:
        for number, said in ((b"1e400", "the number 1e400 is too large"), (b"9" * 5_000, "5,000 digits")):
            body = b'{"organisation": "desk", "goal": "Choose a day", "parameters": {"days": ' + number + b"}}"
            detail = (await client.post("/executions", content=body, headers=JSON)).json()["detail"]
            assert said in detail and "sys." not in detail


async def test_a_null_never_stands_for_the_default_of_a_parameter(served: Served) -> None:
    body = {**GOAL, "organisation": "desk", "parameters": {"days": None}}
    async with served.client() as client:
        response = await client.post("/executions", json=body)

    assert (response.status_code, response.json()["code"]) == (422, "INVALID_ARGUMENTS")
    assert "`days` must be" in response.json()["detail"]


async def test_only_json_is_taken(served: Served) -> None:
    async with served.client() as client:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", ""):
            response = await client.post("/executions", content=b"{}", headers={"Content-Type": kind})
            assert (response.status_code, response.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE"), kind
        good = await client.post(
            "/executions", content=b"{}", headers={"Content-Type": "Application/JSON;charset=UTF-8"}
        )
        assert good.json()["code"] == "INVALID_REQUEST"


async def test_odd_letters_and_numbers_are_cleaned_where_they_come_in(served: Served) -> None:
    body = rb'{"organisation": "desk", "goal": "Choose a day \u0000 \ud800 \ud83d\ude00", "parameters": {"days": %d}}'
    async with served.client() as client:
        response = await client.post("/executions", content=body % 2**63, headers=JSON)
        assert response.status_code == 202, response.text
        event = (await served.store.ledger.read(response.json()["execution_id"]))[0]

    request: Any = event.data["request"] if event.data else {}
    assert request["goal"] == "Choose a day ␀ � 😀"
    assert request["parameters"] == {"days": 2**63}


PATHS = ["/executions", "/executions/{id}", "/executions/{id}/cancel", "/executions/{id}/resume",
         "/executions/{id}/tree", "/questions", "/questions/{id}/answer", "/nothing"]  # fmt: skip


async def test_whatever_comes_a_problem_is_told_and_never_a_crash(served: Served) -> None:
    execution_id = await served.submit()
    transport = httpx.ASGITransport(served.api)
    client = httpx.AsyncClient(
        transport=transport, base_url="http://api/api/v1", headers={"Authorization": f"Bearer {served.admin}"}
    )
    loop = asyncio.get_running_loop()

    @settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH"]),
        path=st.sampled_from(PATHS),
        id_=st.sampled_from([execution_id.ulid, "01JB0000000000000000000XEC", "x", "..", "%00", "é"]),
        query=st.dictionaries(st.sampled_from(["limit", "cursor", "organisation", "after", "x"]), st.text(max_size=8)),
        body=st.one_of(
            values.map(json.dumps).map(str.encode),
            st.binary(max_size=64),
            st.fixed_dictionaries(
                {"goal": st.text(max_size=8), "organisation": st.just("desk")},
                optional={"at": st.text(max_size=8), "parameters": values, "budget": values, "as": values,
                          "language": values, "skill": values, "value": values},
            ).map(json.dumps).map(str.encode),
        ),
        key=st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=210),
    )  # fmt: skip
    def ask(method: str, path: str, id_: str, query: dict[str, str], body: bytes, key: str) -> None:
        async def one() -> httpx.Response:
            headers = {"Content-Type": "application/json", "Idempotency-Key": key.strip()}
            content = None if method in ("GET", "DELETE") else body
            return await client.request(
                method, path.replace("{id}", id_), params=query, content=content, headers=headers
            )

        response = asyncio.run_coroutine_threadsafe(one(), loop).result(30)
        assert response.status_code < 500, response.text
        if response.status_code >= 400:
            assert response.headers["content-type"] == "application/problem+json"
            assert response.json()["status"] == response.status_code

    await asyncio.to_thread(ask)
    await client.aclose()
