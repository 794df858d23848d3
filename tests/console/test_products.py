"""`silicon products` as people use it: what a run delivered, and where it came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.test_goals import Shop
from tests.fakes.openai_server.asked import Quirks
from tests.fakes.openai_server.server import obliging


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    server = obliging(quirks=Quirks())
    shop = Shop(tmp_path_factory.mktemp("shop"), server)
    shop.ran = shop.run("Review the week", "--skill", "review-week")  # type: ignore[attr-defined]
    card = shop.ran["cards"][0]["id"]  # type: ignore[attr-defined]
    shop.silicon("approvals", "decide", card, "nothing", "--as", "owner", code=0)
    yield shop
    server.stop()


def test_a_run_delivers_its_report_and_what_was_decided(shop: Shop) -> None:
    listed = shop.silicon("products", "list", str(shop.folder))["products"]
    kinds = {each["product"]["kind"] for each in listed}
    assert {"report", "decision"} <= kinds
    [decision] = [each for each in listed if each["product"]["kind"] == "decision"]
    assert "→" in decision["product"]["title"] and decision["product"]["labels"]["decided"] == "yes"


def test_it_is_found_by_intent_and_shown_by_key(shop: Shop) -> None:
    hits = shop.silicon("products", "search", str(shop.folder), "how did the week go", "--kind", "report")["hits"]
    key = hits[0]["row"]["key"]
    shown = shop.silicon("products", "show", str(shop.folder), key)
    assert shown["row"]["product"]["product_id"] == hits[0]["row"]["product"]["product_id"]
    assert shown["content"].startswith("#") and len(shown["versions"]) == 1


def test_its_lineage_leads_to_queries_and_data_and_on_to_what_was_decided(shop: Shop, tmp_path: Path) -> None:
    listed = shop.silicon("products", "list", str(shop.folder))["products"]
    [report] = [each for each in listed if each["product"]["kind"] == "report"]
    picture = tmp_path / "lineage.svg"
    found = shop.silicon(
        "products", "lineage", str(shop.folder), report["product"]["product_id"], "--picture", str(picture)
    )
    assert found["upstream"] and any(step["query_sha256"] or step["metric"] for step in found["upstream"])
    assert found["made_in"]["deliveries"] == [report["product"]["product_id"]]
    assert all(edge[0] != edge[1] for edge in found["edges"])
    assert picture.read_bytes().startswith(b"<?xml") and b"<svg" in picture.read_bytes()
    again = tmp_path / "again.svg"
    shop.silicon("products", "lineage", str(shop.folder), report["key"], "--picture", str(again))
    assert again.read_bytes() == picture.read_bytes()

    [decision] = [each for each in listed if each["product"]["kind"] == "decision"]
    came = shop.silicon("products", "lineage", str(shop.folder), decision["product"]["product_id"])
    assert came["made_in"]["card"] and came["upstream"]


def test_the_table_can_be_made_again(shop: Shop) -> None:
    before = shop.silicon("products", "list", str(shop.folder))
    assert shop.silicon("products", "rebuild")["products"] == len(before["products"])
    assert shop.silicon("products", "list", str(shop.folder)) == before


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["show", "nothing-like-it"], 2, "nothing-like-it"),
        (["show", "report/none/none"], 2, "Nothing was delivered"),
        (["list", "--label", "x"], 2, "NAME=VALUE"),
        (["list", "--since", "lately"], 2, "is not a moment"),
    ],
)
def test_what_cannot_be_found_is_told(shop: Shop, arguments: list[str], code: int, says: str) -> None:
    command, *more = arguments
    told = shop.silicon("products", command, str(shop.folder), *more, code=code)
    assert says in told["error"]["message"]
