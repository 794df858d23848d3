"""Tokens: shown once, kept as a hash, counted until they are revoked."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from contracts import TokenId
from governance.access import Principal, Tokens
from runtime.errors import InvalidArguments, NotFound, PermissionRefused
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock

pytestmark = pytest.mark.anyio
HOME = Path("/organisations/desk")


async def test_a_token_speaks_for_its_person(sqlite_store: SqlStore) -> None:
    tokens = Tokens(sqlite_store.ledger)
    token, text = await tokens.create("night  report", by="root", organisation="desk", person="planner", home=HOME)

    assert token.name == "night report"
    assert await tokens.authenticate(text) == Principal(token.token_id, "night report", "desk", "planner", HOME)
    assert await tokens.get(token.token_id) == token


async def test_only_the_whole_text_counts(sqlite_store: SqlStore) -> None:
    tokens = Tokens(sqlite_store.ledger)
    token, text = await tokens.create("a", by="root")
    other = (await tokens.create("b", by="root"))[1]
    swapped = f"silicon_{token.token_id.ulid}_{other.rpartition('_')[2]}"

    for wrong in (swapped, text[:-1], f"{text}A", text.upper(), token.secret_sha256, str(token.token_id), "", "\ud800"):
        assert await tokens.authenticate(wrong) is None


async def test_a_revoked_token_counts_no_more_and_revoking_twice_is_once(sqlite_store: SqlStore) -> None:
    tokens = Tokens(sqlite_store.ledger)
    token, text = await tokens.create("a", by="root")
    await asyncio.gather(*(tokens.revoke(token.token_id, by="root") for _ in range(5)))

    assert await tokens.authenticate(text) is None
    assert await tokens.principal(token.token_id) is None
    assert len(await sqlite_store.ledger.read(token.token_id)) == 2
    assert (await tokens.list())[0].revoked_at is not None


async def test_of_many_that_start_at_once_one_makes_the_first_token(store: SqlStore) -> None:
    tokens = Tokens(store.ledger)
    made = await asyncio.gather(*(tokens.create_first("first", by="root") for _ in range(8)))
    await tokens.revoke((await tokens.list())[0].token_id, by="root")

    assert len([each for each in made if each is not None]) == 1
    assert len(await tokens.list()) == 1
    assert await tokens.create_first("first", by="root") is None  # it is the first start once only
    assert await store.ledger.verify() == []


async def test_what_makes_no_token_is_refused(sqlite_store: SqlStore) -> None:
    tokens = Tokens(sqlite_store.ledger)
    for name in ("", " ", "x" * 101):
        with pytest.raises(InvalidArguments):
            await tokens.create(name, by="root")
    with pytest.raises(ValueError, match="for a person of an organisation with a folder"):
        await tokens.create("half", by="root", person="planner")
    with pytest.raises(NotFound):
        await tokens.get(TokenId.new())

    assert await sqlite_store.ledger.head() == 0


def test_a_person_is_nobody_else_and_an_administrator_is_anybody() -> None:
    person = Principal("token/1", "night", "desk", "planner", HOME)
    admin = Principal("token/2", "admin")

    assert (person.acts_as(None), person.acts_as("planner")) == ("planner", "planner")
    assert (admin.acts_as(None), admin.acts_as("clerk")) == (None, "clerk")
    assert [each.may_see("elsewhere") for each in (person, admin)] == [False, True]
    with pytest.raises(PermissionRefused):
        person.acts_as("clerk")


async def test_a_token_made_for_a_while_counts_no_longer(sqlite_store: SqlStore, clock: HandClock) -> None:
    tokens = Tokens(sqlite_store.ledger, clock)
    until = clock.now() + timedelta(hours=12)
    token, text = await tokens.create("shift", by="root", expires_at=until)
    assert token.expires_at == until
    assert await tokens.authenticate(text) is not None
    clock.advance(12 * 3_600)
    assert await tokens.authenticate(text) is None
    assert await tokens.principal(token.token_id) is None


async def test_a_token_that_would_have_run_out_already_is_not_made(sqlite_store: SqlStore, clock: HandClock) -> None:
    with pytest.raises(InvalidArguments):
        await Tokens(sqlite_store.ledger, clock).create("late", by="root", expires_at=clock.now())
