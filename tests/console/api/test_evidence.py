"""Evidence over the HTTP API: told with its faults, downloaded by number, seen by nobody it is not for."""

from __future__ import annotations

import pytest

from console.api.evidence import disposition
from console.views import RunOptions
from contracts import OrderId, OrderState
from tests.console.api.conftest import Served
from tests.fakes.archive_office import GOAL, make_office

pytestmark = pytest.mark.anyio


async def clerks_order(served: Served) -> OrderId:
    office = make_office(served.folder.parent / "office")
    outcome = await served.application.run(office, RunOptions(GOAL, skill="note"), watch=lambda event: None)
    assert outcome.state is OrderState.DONE
    return list(await served.application.orders_of(outcome.execution_id))[-1]


async def test_evidence_is_told_and_each_item_with_bytes_can_be_had(served: Served) -> None:
    order = await clerks_order(served)
    async with served.client() as client:
        told = (await client.get(f"/orders/{order.ulid}/evidence")).json()
        gone = await client.get(f"/orders/{order.ulid}/evidence/4")
        page, note = [await client.get(f"/orders/{order.ulid}/evidence/{number}") for number in (2, 5)]

    assert (told["sealed"], told["faults"]) == ("sealed", [])
    assert [item["href"] is not None for item in told["items"]] == [True, True, True, False, True]
    assert gone.status_code == 404
    assert (page.content, page.headers["content-type"]) == (b"<h1>7</h1>", "text/html; charset=utf-8")
    assert page.headers["content-disposition"].startswith("attachment;")
    assert page.headers["content-security-policy"].startswith("sandbox")
    assert note.content == b"7\n"
    assert note.headers["content-disposition"] == (
        "attachment; filename=\"__.txt\"; filename*=UTF-8''%E7%AC%94%E8%AE%B0.txt"
    )


@pytest.mark.parametrize(
    "path",
    ["/orders/{}/evidence/0", "/orders/{}/evidence/99", "/orders/{}/evidence/..%2f1", "/orders/{}/evidence/2?path=/x"],
)
async def test_nothing_is_reached_but_items_by_number(served: Served, path: str) -> None:
    order = await clerks_order(served)
    async with served.client() as client:
        answer = await client.get(path.format(order.ulid))

    assert answer.status_code in (404, 422)


async def test_evidence_of_another_organisation_is_not_there(served: Served) -> None:
    order = await clerks_order(served)
    async with served.client(await served.token("planner")) as client:
        answers = [await client.get(f"/orders/{order.ulid}/evidence{item}") for item in ("", "/2")]

    assert [answer.status_code for answer in answers] == [404, 404]


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("a.txt", "a.txt"),
        ('a"; filename=b.exe', "a_; filename=b.exe"),
        ("a\r\nSet-Cookie: x", "a__Set-Cookie: x"),
        ("\u202egpj.exe", "_gpj.exe"),
        ("", "item"),
    ],
)
def test_no_name_of_a_file_breaks_out_of_its_header(name: str, plain: str) -> None:
    header = disposition(name)

    assert f'filename="{plain}"' in header
    assert "\r" not in header
    assert header.isascii()
