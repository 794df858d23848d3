"""Accounts: a password that nothing tells, and what ends with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from governance.access.passwords import Passwords
from governance.access.sessions import Sessions
from governance.access.users import Users
from runtime.errors import InvalidArguments
from runtime.ledger.access_rows import AccessRows
from runtime.ledger.store import SqlStore
from runtime.settings.access import AccessSettings
from tests.governance.access.conftest import QUICK

pytestmark = pytest.mark.anyio
WORDS = "correct horse battery staple"


async def give(users: Users, password: str = WORDS) -> None:
    await users.set_password("airports", "morgan", password, by="root", via="cli")


async def test_only_the_password_that_was_given_proves_who_it_is(users: Users) -> None:
    await give(users)
    assert await users.proves("airports", "morgan", WORDS)
    assert not await users.proves("airports", "morgan", WORDS.upper())
    assert not await users.proves("airports", "sam", WORDS)
    assert not await users.proves("harbour", "morgan", WORDS)


async def test_the_letters_of_a_keyboard_that_writes_them_in_two_parts_are_the_same(users: Users) -> None:
    await give(users, "Ärgerlich lange Wörter")
    assert await users.proves("airports", "morgan", "A\u0308rgerlich lange Wo\u0308rter")


@pytest.mark.parametrize("password", ["", "eleven char", "x" * 1_025])
async def test_a_password_that_is_too_short_or_too_long_is_refused_and_not_told(users: Users, password: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        await give(users, password)
    assert not password or password not in refused.value.message
    assert (await users.account("airports", "morgan")).password_since is None


async def test_neither_the_password_nor_its_hash_is_an_event(users: Users, store: SqlStore, rows: AccessRows) -> None:
    await give(users)
    await users.signed_in("airports", "morgan", via="api from 10.0.0.1")
    row = await rows.get("password/airports/morgan")
    told = json.dumps([event.data for event in await store.ledger.read_all()])
    assert row is not None
    assert str(row.data["hash"]).startswith("$argon2id$")
    assert WORDS not in told
    assert "argon2" not in told


async def test_a_hash_of_older_parameters_is_made_anew_at_the_next_login(
    store: SqlStore, rows: AccessRows, sessions: Sessions, users: Users
) -> None:
    await give(users)
    now = Users(store.ledger, rows, Passwords(QUICK.model_copy(update={"argon2_passes": 2})), sessions)
    assert await now.proves("airports", "morgan", WORDS)
    row = await rows.get("password/airports/morgan")
    assert row is not None
    assert "t=2" in str(row.data["hash"])
    assert await now.proves("airports", "morgan", WORDS)


async def test_an_unknown_user_costs_one_hash_as_a_known_one_does(
    monkeypatch: pytest.MonkeyPatch, users: Users
) -> None:
    from argon2 import PasswordHasher

    checked: list[str] = []
    verify = PasswordHasher.verify

    def counting(self: PasswordHasher, hashed: str, password: str) -> bool:
        checked.append(hashed.rsplit("$", 2)[0])
        return verify(self, hashed, password)

    monkeypatch.setattr(PasswordHasher, "verify", counting)
    await give(users)
    await users.proves("airports", "morgan", "wrong")
    await users.proves("airports", "nobody", "wrong")
    assert len(checked) == 2
    assert checked[0] == checked[1]


async def test_a_locked_account_proves_nothing_until_it_is_unlocked(users: Users) -> None:
    await give(users)
    await users.lock("airports", "morgan", reason="left a laptop in a train", by="dana", via="cli")
    locked = await users.account("airports", "morgan")
    assert not await users.proves("airports", "morgan", WORDS)
    assert (locked.locked_by, locked.reason) == ("dana", "left a laptop in a train")

    await users.unlock("airports", "morgan", by="dana", via="cli")
    assert await users.proves("airports", "morgan", WORDS)
    assert (await users.account("airports", "morgan")).locked_at is None


@pytest.mark.parametrize("how", ["changed", "removed", "locked"])
async def test_sessions_end_with_the_password_and_with_a_lock(users: Users, sessions: Sessions, how: str) -> None:
    await give(users)
    _, text = await sessions.open("airports", "morgan", Path("/org"), via="api")
    _, other = await sessions.open("airports", "sam", Path("/org"), via="api")
    if how == "changed":
        await give(users, "another four words here")
    elif how == "removed":
        await users.remove_password("airports", "morgan", by="root", via="cli")
    else:
        await users.lock("airports", "morgan", reason="lost", by="root", via="cli")
    assert await sessions.find(text) is None
    assert await sessions.find(other) is not None


async def test_without_a_password_nobody_logs_in(users: Users) -> None:
    await give(users)
    await users.remove_password("airports", "morgan", by="root", via="cli")
    assert not await users.proves("airports", "morgan", WORDS)


def test_the_parameters_are_those_that_rfc_9106_recommends_for_less_memory() -> None:
    settings = AccessSettings()
    assert (settings.argon2_passes, settings.argon2_memory_mib, settings.argon2_lanes) == (3, 64, 4)


async def test_a_session_that_the_old_password_opened_while_it_was_changed_counts_for_nothing(
    users: Users, sessions: Sessions
) -> None:
    await give(users)
    given = await users.proves("airports", "morgan", WORDS)
    await give(users, "another four words here")
    _, text = await sessions.open("airports", "morgan", Path("/org"), via="api", password=given)
    assert await sessions.find(text) is None

    given = await users.proves("airports", "morgan", "another four words here")
    session, text = await sessions.open("airports", "morgan", Path("/org"), via="api", password=given)
    assert await sessions.find(text) is not None and await sessions.get(session.id) is not None


async def test_what_was_read_before_a_new_password_does_not_bring_the_old_one_back(
    store: SqlStore, rows: AccessRows, sessions: Sessions, users: Users, monkeypatch: pytest.MonkeyPatch
) -> None:
    await give(users)
    slow = Passwords(QUICK.model_copy(update={"argon2_passes": 2}))
    hashed = slow.hash

    async def while_another_is_given(password: str) -> str:
        await give(users, "another four words here")
        return await hashed(password)

    monkeypatch.setattr(slow, "hash", while_another_is_given)
    await Users(store.ledger, rows, slow, sessions).proves("airports", "morgan", WORDS)
    assert await users.proves("airports", "morgan", WORDS) is None
    assert await users.proves("airports", "morgan", "another four words here")
