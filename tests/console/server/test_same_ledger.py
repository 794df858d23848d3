"""A server whose ledger is removed, replaced or set back stops at once and says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from console.server.errors import LedgerReplaced
from console.server.same_ledger import SameLedger
from runtime.ledger import embedded_file, open_store
from runtime.ledger.database import parse_address
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.schema import REVISION
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.console.server.office import Site
from tests.fakes.clock import HandClock
from tests.stores import clock, mysql_database, postgresql_database, store, store_url

__all__ = ["clock", "mysql_database", "postgresql_database", "store", "store_url"]
pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("servers")]


def fact(stream: str) -> Append:
    return Append(stream, [NewEvent("step.finished", {})], 0, "acme", "/organisation/acme")


def set_back(url: str, position: int) -> None:
    """Leave the ledger as it stood at an earlier position."""
    engine = create_engine(parse_address(url))
    with engine.begin() as connection:
        connection.execute(text(f"DELETE FROM events WHERE position > {position}"))
        connection.execute(text(f"DELETE FROM streams WHERE first_position > {position}"))
        connection.execute(text(f"UPDATE counter SET position = {position}"))
    engine.dispose()


async def test_a_ledger_that_only_grows_is_the_same(store: SqlStore) -> None:
    same = SameLedger(store, None)
    await same.require()
    for name in ("order/a", "order/b"):
        await store.ledger.append(fact(name))
        await same.require()


async def test_a_ledger_whose_newest_event_was_pruned_is_the_same(store: SqlStore) -> None:
    same = SameLedger(store, None)
    await store.ledger.append(fact("order/a"))
    await same.require()
    await store.ledger.prune({"order/a": 1}, reason="old")
    await same.require()


async def test_a_ledger_that_was_set_back_is_another(store: SqlStore, store_url: str) -> None:
    same = SameLedger(store, None)
    for name in ("order/a", "order/b"):
        await store.ledger.append(fact(name))
    await same.require()
    set_back(store_url, 1)
    with pytest.raises(LedgerReplaced, match=r"it ends at 1 and had come to 2"):
        await same.require()


async def test_a_ledger_that_was_set_back_and_went_on_is_another(
    store: SqlStore, store_url: str, tmp_path: Path
) -> None:
    same = SameLedger(store, None)
    for name in ("order/a", "order/b"):
        await store.ledger.append(fact(name))
    await same.require()
    set_back(store_url, 1)
    other = await open_store(LedgerSettings(url=store_url), home=tmp_path, clock=HandClock())
    await other.ledger.append(fact("order/c"), fact("order/d"))
    await other.close()
    with pytest.raises(LedgerReplaced, match=r"another event stands at 2"):
        await same.require()


async def test_a_schema_that_was_changed_under_the_server_is_another(store: SqlStore, store_url: str) -> None:
    same = SameLedger(store, None)
    await same.require()
    engine = create_engine(parse_address(store_url))
    try:
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(LedgerReplaced, match=r"its schema was \d+ and is 9999 now"):
            await same.require()
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{REVISION}'"))
        engine.dispose()


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_file_that_was_removed_or_replaced_is_another(tmp_path: Path, *, replaced: bool) -> None:
    store = await open_store(LedgerSettings(), home=tmp_path, clock=HandClock())
    file = embedded_file(LedgerSettings(), tmp_path)
    assert file is not None
    same = SameLedger(store, file)
    await same.require()
    copy = file.read_bytes()
    file.unlink()
    if replaced:
        file.with_name("other").write_bytes(copy)
        file.with_name("other").rename(file)
    with pytest.raises(LedgerReplaced, match=r"the file was removed or replaced"):
        await same.require()
    await store.close()


def test_a_server_whose_file_is_removed_stops_and_says_why(site: Site) -> None:
    with site.up(str(site.office)) as up:
        execution = site.submit(up)
        site.follow(up, execution)
        for file in (site.folder / "home").glob("silicon.db*"):
            file.unlink()
        out, _ = up.process.communicate(timeout=60)

    assert up.process.returncode == 1
    assert json.loads(out[out.index("{") :])["error"]["code"] == "LEDGER_REPLACED"
    with site.up(str(site.office)) as again:
        assert again.token is not None  # it is a new ledger
