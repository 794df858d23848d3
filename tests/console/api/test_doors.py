"""Nobody comes in without a token that counts, and nobody too often."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from console.api.app import PREFIX
from console.views import RunOptions
from contracts import TokenId
from runtime.errors import LedgerFull
from tests.console.api.conftest import Served, serve
from tests.disks import fill, small_disk

pytestmark = pytest.mark.anyio


async def test_health_needs_no_token_and_tells_nothing_else(served: Served) -> None:
    async with httpx.AsyncClient(base_url=served.url) as client:
        for path in ("/healthz", "/readyz"):
            response = await client.get(path)
            assert (response.status_code, response.json()) == (200, {"status": "ok"})
            assert (await client.head(path)).status_code == 200


async def test_a_server_whose_disk_is_full_is_not_ready_until_it_has_written_again(tmp_path: Path) -> None:
    told: list[tuple[int, str]] = []
    with small_disk(tmp_path / "disk", mib=8) as disk:
        async with serve(disk) as served, httpx.AsyncClient(base_url=served.url) as client:
            ballast = fill(disk)
            with pytest.raises(LedgerFull):
                await served.application.submit(served.folder, RunOptions(goal="Choose a day"))
            for _ in range(2):  # reading the ledger changes nothing
                answer = await client.get("/readyz")
                told.append((answer.status_code, answer.json().get("detail", "")))
            ballast.unlink()
            await served.submit()
            told.append(((await client.get("/readyz")).status_code, ""))

    assert told == [(503, "The disk of the ledger is full.")] * 2 + [(200, "")]


async def test_everything_else_needs_a_token_also_what_is_not_there(served: Served) -> None:
    described = served.api.openapi()
    paths = [path for path in described["paths"] if path.startswith(PREFIX)]
    assert len(paths) >= 8
    async with httpx.AsyncClient(base_url=served.url) as client:
        for path in [*paths, f"{PREFIX}/openapi.json", "/", "/nothing", "/docs"]:
            for method in ("GET", "POST", "DELETE", "OPTIONS"):
                if (method, path) == ("POST", f"{PREFIX}/login"):
                    continue  # there nobody has anything yet that says who they are
                response = await client.request(method, path)
                assert response.status_code == 401, (method, path)
                assert response.headers["www-authenticate"] == "Bearer"
                assert response.headers["content-type"] == "application/problem+json"


async def test_a_header_that_is_no_token_of_ours_is_refused(served: Served) -> None:
    async with served.client("") as client:
        for header in ("", "Bearer", "Basic abc", "silicon", "Bearer silicon_x", "Bearer a b"):
            response = await client.get("/executions", headers={"Authorization": header})
            assert response.status_code == 401, header
        both = [("Authorization", f"Bearer {served.admin}")] * 2
        assert (await client.get("/executions", headers=both)).status_code == 401


async def test_a_token_with_one_changed_letter_is_refused(served: Served) -> None:
    changed = served.admin[:-2] + ("A" if served.admin[-2] != "A" else "B") + served.admin[-1]
    async with served.client(changed) as client:
        response = await client.get("/executions")

    assert response.status_code == 401
    assert 'error="invalid_token"' in response.headers["www-authenticate"]


async def test_a_revoked_token_is_refused_from_the_next_request_on(served: Served) -> None:
    token = await served.token("planner")
    async with served.client(token) as client:
        assert (await client.get("/executions")).status_code == 200
        await served.application.revoke_token(TokenId(f"token/{token.split('_')[1]}"))
        assert (await client.get("/executions")).status_code == 401


async def test_a_token_of_a_person_who_left_is_refused_at_once(served: Served) -> None:
    token = await served.token("clerk")
    org = served.folder / "org.yaml"
    async with served.client(token) as client:
        assert (await client.get("/executions")).status_code == 200
        org.write_text("\n".join(line for line in org.read_text().splitlines() if "clerk," not in line))
        response = await client.get("/executions")

    assert (response.status_code, response.json()["code"]) == (403, "PERMISSION_REFUSED")


async def test_a_person_whose_organisation_cannot_be_read_is_told_so_and_let_in_again_later(served: Served) -> None:
    token = await served.token("clerk")
    org = served.folder / "org.yaml"
    whole = org.read_text()
    async with served.client(token) as client:
        org.write_text("name: [")
        faulty = await client.get("/executions")
        org.write_text(whole)
        good = await client.get("/executions")
        served.folder.rename(served.folder.with_name("moved"))
        gone = await client.get("/executions")

    assert (faulty.status_code, faulty.json()["code"]) == (409, "ORGANISATION_FAULTY")
    assert good.status_code == 200
    assert (gone.status_code, gone.json()["code"]) == (403, "PERMISSION_REFUSED")


async def test_a_principal_asks_no_more_often_than_its_rate(tmp_path: Path) -> None:
    async with serve(tmp_path, rate_per_s=20, rate_burst=40) as served, served.client() as client:
        other = await served.token("planner")
        codes = [(await client.get("/nothing")).status_code for _ in range(40)]
        refused = await client.get("/nothing")
        assert codes == [404] * 40
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert refused.json()["code"] == "RATE_LIMITED"

        async with served.client(other) as neighbour:
            assert (await neighbour.get("/nothing")).status_code == 404
        served.clock.advance(0.05)
        assert [(await client.get("/nothing")).status_code for _ in range(2)] == [404, 429]


async def test_an_address_tries_few_wrong_tokens_while_good_ones_pass(tmp_path: Path) -> None:
    wrong = f"silicon_01JB0000000000000000000TKN_{'x' * 43}"
    async with serve(tmp_path, wrong_tokens_per_min=5) as served, served.client() as good:
        other = await served.token("planner")
        assert (await good.get("/executions")).status_code == 200
        async with served.client(wrong) as bad, served.client(other) as late:
            codes = [(await bad.get("/executions")).status_code for _ in range(7)]
            assert codes == [401] * 5 + [429] * 2
            assert (await good.get("/executions")).status_code == 200
            assert (await late.get("/executions")).status_code == 429  # never good before: it has to wait as well
            served.clock.advance(12)
            assert (await late.get("/executions")).status_code == 200


async def test_a_request_without_a_token_costs_its_address_nothing(tmp_path: Path) -> None:
    async with serve(tmp_path, wrong_tokens_per_min=2) as served, served.client("") as nobody:
        assert {(await nobody.get("/executions")).status_code for _ in range(9)} == {401}
        async with served.client() as good:
            assert (await good.get("/executions")).status_code == 200


async def test_the_text_of_a_token_is_nowhere_in_the_ledger(served: Served) -> None:
    secret = served.admin.rpartition("_")[2]
    events = await served.store.ledger.read_all()

    assert [each.type for each in events][:2] == ["token.created", "first_token.created"]
    assert secret not in "".join(event.model_dump_json() for event in events)


async def test_every_answer_bears_a_number_and_is_not_sniffed(served: Served) -> None:
    async with served.client() as client:
        numbers = [(await client.get("/nothing")).headers["x-request-id"] for _ in range(2)]

    assert len(set(numbers)) == 2
