"""Logging in over HTTP: a session in a cookie, told to nobody else, over at a logout or with a new password."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from runtime.settings.access import AccessSettings
from tests.console.api.conftest import GOAL, Served, serve

pytestmark = pytest.mark.anyio
WORDS = "correct horse battery staple"
CLERK = {"organisation": "desk", "person": "clerk", "password": WORDS}
QUICK = {"argon2_passes": 1, "argon2_memory_mib": 8, "argon2_lanes": 1}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    """A server whose clerk has a password; its cookies pass without TLS, as in a network of one's own."""
    access = AccessSettings(**QUICK, cookie_secure=False, logins_per_min=20)
    async with serve(tmp_path, access=access) as served:
        await served.application.set_password(served.folder, "clerk", WORDS, by="root", via="cli")
        yield served


async def log_in(client: httpx.AsyncClient, **other: str) -> httpx.Response:
    return await client.post("/login", json={**CLERK, **other})


async def test_a_login_opens_a_session_in_a_cookie_that_no_script_reads(desk: Served) -> None:
    async with desk.client("") as client:
        response = await log_in(client)
        me = (await client.get("/me")).json()
    cookie = response.headers["set-cookie"]
    assert response.status_code == 200
    assert "HttpOnly; SameSite=Lax" in cookie
    assert "Secure" not in cookie
    assert "silicon_session" not in response.text
    assert me["person"] == "clerk"
    assert (me["by"], me["roles"]) == ("session", ["approver"])


async def test_by_default_the_cookie_goes_over_tls_only(tmp_path: Path) -> None:
    async with serve(tmp_path, access=AccessSettings(**QUICK)) as served:
        await served.application.set_password(served.folder, "clerk", WORDS, by="root", via="cli")
        async with served.client("") as client:
            assert "; Secure" in (await log_in(client)).headers["set-cookie"]


@pytest.mark.parametrize(
    "wrong", [{"password": "another one here"}, {"person": "nobody"}, {"organisation": "harbour"}, {"person": "guest"}]
)
async def test_whatever_was_wrong_the_answer_is_the_same(desk: Served, wrong: dict[str, str]) -> None:
    async with desk.client("") as client:
        response = await log_in(client, **wrong)
    assert response.status_code == 401
    assert response.json()["detail"] == "There is no such person with this password, or the account is locked."
    assert "set-cookie" not in response.headers


async def test_a_logout_ends_the_session_for_whoever_kept_the_cookie(desk: Served) -> None:
    async with desk.client("") as client:
        kept = dict((await log_in(client)).cookies)
        assert (await client.post("/logout")).status_code == 204
    async with desk.client("") as client:
        client.cookies.update(kept)
        assert (await client.get("/me")).status_code == 401


async def test_a_session_is_bounded_as_the_person_is(desk: Served) -> None:
    async with desk.client("") as client:
        await log_in(client)
        refused = await client.post("/executions", json=GOAL)
    assert (refused.status_code, refused.json()["code"]) == (403, "PERMISSION_REFUSED")


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
async def test_a_page_of_another_site_changes_nothing_with_the_cookie(desk: Served, headers: dict[str, str]) -> None:
    async with desk.client("") as client:
        await log_in(client)
        refused = await client.post("/logout", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "FROM_ANOTHER_SITE")
        assert (await client.post("/logout", headers={"Origin": desk.url})).status_code == 204


async def test_a_person_changes_their_own_password_with_the_old_one_and_every_session_ends(desk: Served) -> None:
    new = "four quite different words"
    async with desk.client("") as client, desk.client("") as other:
        await log_in(client)
        await log_in(other)
        wrong = await client.post("/me/password", json={"old": "not the old one", "new": new})
        short = await client.post("/me/password", json={"old": WORDS, "new": "short"})
        done = await client.post("/me/password", json={"old": WORDS, "new": new})
        gone = [(await each.get("/me")).status_code for each in (client, other)]
        again = await log_in(client, password=new)
    assert (wrong.status_code, short.status_code, done.status_code) == (401, 422, 204)
    assert gone == [401, 401]
    assert again.status_code == 200


async def test_a_person_taken_out_of_the_folder_can_do_nothing_at_once(desk: Served) -> None:
    async with desk.client("") as client:
        await log_in(client)
        org = desk.folder / "org.yaml"
        org.write_text(
            "\n".join(line for line in org.read_text().splitlines() if "clerk," not in line).replace(
                "[clerks]", "[planner]"
            )
        )
        response = await client.get("/me")
        assert (response.status_code, response.json()["code"]) == (403, "PERMISSION_REFUSED")
        assert (await log_in(client)).status_code == 401


async def test_a_locked_person_gets_in_with_no_password_session_or_token(desk: Served) -> None:
    token = await desk.token("clerk")
    async with desk.client("") as client, desk.client(token) as by_token, desk.client() as admin:
        await log_in(client)
        locked = await admin.post("/users/clerk/lock", params={"organisation": "desk"}, json={"reason": "lost a phone"})
        got_in = [(await each.get("/me")).status_code for each in (client, by_token)]
        login = await log_in(client)
        await admin.post("/users/clerk/unlock", params={"organisation": "desk"})
        after = [(await by_token.get("/me")).status_code, (await log_in(client)).status_code]
    assert (locked.status_code, locked.json()["reason"]) == (200, "lost a phone")
    assert (got_in, login.status_code, after) == ([401, 403], 401, [200, 200])


async def test_only_an_administrator_sees_to_accounts(desk: Served) -> None:
    async with desk.client(await desk.token("planner")) as client, desk.client() as admin:
        refused = await client.get("/users")
        listed = await admin.get("/users", params={"organisation": "desk"})
        given = await admin.post(
            "/users/planner/password", params={"organisation": "desk"}, json={"password": "planner plans long days"}
        )
    assert refused.status_code == 403
    assert [each["person"] for each in listed.json()["users"]] == ["planner", "clerk", "guest"]
    assert [bool(each.get("password_since")) for each in listed.json()["users"]] == [False, True, False]
    assert given.status_code == 200


async def test_logins_are_limited_by_account_and_by_address(tmp_path: Path) -> None:
    access = AccessSettings(**QUICK, cookie_secure=False, logins_per_min=2, logins_per_min_address=4)
    async with serve(tmp_path, access=access) as served, served.client("") as client:
        await served.application.set_password(served.folder, "clerk", WORDS, by="root", via="cli")
        by_account = [(await log_in(client, password="wrong words again")).status_code for _ in range(2)]
        limited = await log_in(client)
        by_address = [(await log_in(client, person="guest")).status_code for _ in range(2)]
        served.clock.advance(61)
        after = await log_in(client)
    assert by_account == [401, 401]
    assert (limited.status_code, limited.json()["code"]) == (429, "TOO_MANY_LOGINS")
    assert int(limited.headers["retry-after"]) >= 1
    assert by_address == [401, 429]
    assert after.status_code == 200


async def test_no_answer_of_the_server_repeats_a_password(desk: Served) -> None:
    async with desk.client("") as client:
        broken = await client.post("/login", json={**CLERK, "password": [WORDS]})
        more = await client.post("/login", json={**CLERK, "passwort": WORDS})
    assert (broken.status_code, more.status_code) == (422, 422)
    assert WORDS not in broken.text + more.text


async def test_a_token_that_is_used_says_when(desk: Served) -> None:
    token, text = await desk.application.create_token("day", folder=desk.folder, person="clerk", within_s=3_600)
    async with desk.client(text) as client:
        assert (await client.get("/me")).json()["by"] == "token"
    used = {each.token_id: each.used_at for each in await desk.application.tokens()}
    assert used[token.token_id] is not None
    assert None in used.values()
