"""Data products over HTTP: to whoever may see the work."""

from __future__ import annotations

from typing import cast

import pytest

from runtime.ledger.store import SqlStore
from tests.console.api.conftest import Served
from tests.memory.products.test_store import delivered

pytestmark = pytest.mark.anyio


async def test_products_are_listed_found_and_shown_to_those_who_may(served: Served) -> None:
    assert (await _get(served, "planner", "/products"))["products"] == []
    product = await delivered(
        cast(SqlStore, served.store), "Snow report", organisation="desk", skill="choose-day", asked=False
    )
    [listed] = (await _get(served, "planner", "/products"))["products"]
    assert listed["key"] == "report/choose-day/tell"
    [hit] = (await _get(served, "planner", "/products/search", q="snow"))["hits"]
    assert hit["product"]["product"]["product_id"] == product.product_id
    shown = await _get(served, "planner", f"/products/{product.product_id.ulid}")
    assert shown["content"] == "# Snow report\n"
    [by_key] = (await _get(served, "planner", "/products", key="report/choose-day/tell"))["products"]
    assert by_key == listed


@pytest.mark.parametrize(
    "path", ["/products/01JB0000000000000000000PRD", "/products/01JB0000000000000000000PRD/lineage"]
)
async def test_what_is_not_there_is_not_found(served: Served, path: str) -> None:
    async with served.client(await served.token("planner")) as client:
        assert (await client.get(path)).status_code == 404


async def _get(served: Served, person: str, path: str, **params: str) -> dict[str, object]:
    async with served.client(await served.token(person)) as client:
        answer = await client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())
