"""What can stand in the way of a ledger, and what a person is told."""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from runtime.errors import LedgerUnavailable, SchemaMismatch, SettingsError, SiliconError
from runtime.ledger import open_store, upgrade
from runtime.ledger.database import parse_address
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.stores import SERVERS, empty_server_database

pytestmark = pytest.mark.anyio
QUICK = LedgerSettings(busy_timeout_s=0.05)


def fact(stream: str = "order/a", x: str = "") -> Append:
    return Append(stream, [NewEvent("step.finished", {"x": x})], 0, "acme", "/organisation/acme")


async def opened(home: Path, settings: LedgerSettings = QUICK) -> SqlStore:
    return await open_store(settings, home=home, clock=HandClock())


async def refusal(settings: LedgerSettings, home: Path) -> SiliconError:
    with pytest.raises(SiliconError) as refused:
        await opened(home, settings)
    return refused.value


async def test_a_home_that_is_not_there_is_made(tmp_path: Path) -> None:
    store = await opened(tmp_path / "a" / "b")
    await store.close()

    assert [file.name for file in (tmp_path / "a" / "b").glob("*.db")] == ["silicon.db"]


async def test_a_ledger_that_another_process_is_just_making_is_waited_for(tmp_path: Path) -> None:
    """SQLite refuses to change the journal at once while another is about to write, whatever its wait is set to."""
    with closing(sqlite3.connect(tmp_path / "silicon.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE made (x)")
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.3, other.execute, ["COMMIT"]).start()

        store = await opened(tmp_path, LedgerSettings(busy_timeout_s=60))

    assert await store.ledger.append(fact())
    await store.close()


async def test_a_locked_ledger_says_so_and_works_again_afterwards(tmp_path: Path) -> None:
    store = await opened(tmp_path)
    with closing(sqlite3.connect(tmp_path / "silicon.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match=r"locked for writing. Wait for it, or end it"):
            await store.ledger.append(fact())
        assert await store.ledger.read_all() == []
        async with asyncio.timeout(60):  # those who wait together are refused together, not one after the other
            waiting = [store.ledger.append(fact(f"order/{number}")) for number in range(500)]
            refused = await asyncio.gather(*waiting, return_exceptions=True)
        assert {type(one) for one in refused} == {LedgerUnavailable}

    await store.ledger.append(fact())
    await store.close()


async def test_a_read_only_ledger_can_be_read_and_says_why_it_is_not_written(tmp_path: Path) -> None:
    store = await opened(tmp_path)
    await store.ledger.append(fact())
    await store.close()

    url = f"sqlite:///file:{tmp_path / 'silicon.db'}?mode=ro&uri=true"
    store = await opened(tmp_path, LedgerSettings(url=url))
    with pytest.raises(LedgerUnavailable, match=r"is read-only. Make them writable"):
        await store.ledger.append(fact("order/b"))
    assert len(await store.ledger.read_all()) == 1
    await store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)  # noqa: ASYNC240
    error = await refusal(QUICK, tmp_path)
    assert isinstance(error, LedgerUnavailable) and str(tmp_path) in error.message


async def test_a_full_disk_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    store = await opened(tmp_path)
    await store.ledger.append(fact())
    await store.writer.do(lambda transaction: transaction.run("PRAGMA max_page_count=40"))

    with pytest.raises(LedgerUnavailable, match="is full; nothing was written"):
        await store.ledger.append(fact("order/b", "x" * 1_000_000))

    await store.ledger.append(fact("order/c"))
    assert [event.subject for event in await store.ledger.read_all()] == ["order/a", "order/c"]
    await store.close()


async def test_a_file_in_the_place_of_the_home_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    assert "cannot be made" in (await refusal(QUICK, tmp_path / "file")).message


async def test_a_file_that_is_no_ledger_is_told(tmp_path: Path) -> None:
    (tmp_path / "silicon.db").write_bytes(b"not a database " * 1_000)

    error = await refusal(QUICK, tmp_path)
    assert isinstance(error, LedgerUnavailable) and "is not a ledger. Move it away" in error.message


async def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "silicon.db")) as file:
        file.execute("CREATE TABLE events (id INTEGER)")

    error = await refusal(QUICK, tmp_path)
    assert isinstance(error, SchemaMismatch) and "already has tables named events" in error.message


async def test_a_newer_ledger_is_refused(tmp_path: Path) -> None:
    await (await opened(tmp_path)).close()
    with closing(sqlite3.connect(tmp_path / "silicon.db")) as file, file:
        file.execute("UPDATE alembic_version SET version_num = '9999'")

    error = await refusal(QUICK, tmp_path)
    assert isinstance(error, SchemaMismatch) and "made by a newer version of silicon (schema 9999" in error.message


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_newer_ledger_on_a_server_is_refused_by_opening_and_by_upgrading(tmp_path: Path, kind: str) -> None:
    for url in empty_server_database(kind):
        engine = create_engine(parse_address(url))
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        engine.dispose()

        assert "is at schema 9999" in (await refusal(LedgerSettings(url=url), tmp_path)).message
        with pytest.raises(SchemaMismatch, match="made by a newer version of silicon"):
            upgrade(url)


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_server_without_a_ledger_names_the_command(tmp_path: Path, kind: str) -> None:
    for url in empty_server_database(kind, migrate=False):
        error = await refusal(LedgerSettings(url=url), tmp_path)
        assert isinstance(error, SchemaMismatch) and "Run `silicon db upgrade`" in error.message
        upgrade(url)
        await (await opened(tmp_path, LedgerSettings(url=url))).close()


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_server_that_does_not_answer_is_told_without_the_password(tmp_path: Path, kind: str) -> None:
    error = await refusal(LedgerSettings(url=f"{kind}://ana:hunter2@127.0.0.1:1/silicon"), tmp_path)

    assert isinstance(error, LedgerUnavailable) and "cannot be reached" in error.message
    assert "hunter2" not in error.message + str(error.facts)


@pytest.fixture(params=SERVERS)
def answering(request: pytest.FixtureRequest) -> Iterator[str]:
    """The kind of a server that answers."""
    request.getfixturevalue(f"{request.param}_database")
    yield request.param


async def test_a_user_that_the_server_does_not_know_is_told(tmp_path: Path, answering: str) -> None:
    where = SERVERS[answering].rpartition("@")[2].partition("/")[0]
    error = await refusal(LedgerSettings(url=f"{answering}://nobody_{secrets.token_hex(3)}:x@{where}/none"), tmp_path)

    assert "refused the user name or password" in error.message


async def test_a_database_that_the_server_does_not_have_is_told(tmp_path: Path, answering: str) -> None:
    url = SERVERS[answering].rpartition("/")[0] + "/none_of_this_name"

    assert "has no database of the name" in (await refusal(LedgerSettings(url=url), tmp_path)).message


@pytest.mark.parametrize("url", ["silicon.db", "sqlite://", "oracle://host/x", "mysql://host", "sqlite:///:memory:"])
async def test_what_is_no_address_is_told(tmp_path: Path, url: str) -> None:
    error = await refusal(LedgerSettings(url=url), tmp_path)

    assert isinstance(error, SettingsError) and "It looks like sqlite:///" in error.message


SERVER = "127.0.0.1:1/silicon"


@pytest.mark.parametrize("kind", ["mysql", "postgresql"])
@pytest.mark.parametrize(
    "password", ["S3cr@et/PW", "S3cr@etPW", "@S3cretPW", "S3cr@et?x=PW", "S3cr@et:PW", "S3cr@et#PW"]
)
async def test_no_part_of_a_password_that_runs_into_the_host_is_told(tmp_path: Path, kind: str, password: str) -> None:
    error = await refusal(LedgerSettings(url=f"{kind}://me:{password}@{SERVER}"), tmp_path)

    assert isinstance(error, SettingsError) and "nobody can tell where its host begins" in error.message
    assert not any(part in repr(error) + repr(error.facts) for part in ("S3cr", "PW"))


@pytest.mark.parametrize(
    ("url", "names"),
    [
        (f"mysql://me@{SERVER}?password=P4ssw0rd&bogus=1", ["bogus"]),
        (f"mysql://me@{SERVER}?connect_timeout=P4ssw0rd", ["connect_timeout"]),
        (f"postgresql://me@{SERVER}?password=P4ssw0rd&bogus=1&other=2", ["bogus", "other"]),
        ("sqlite:///x.db?mode=ro", ["mode"]),
        ("sqlite:///x.db?timeout=soon", ["timeout"]),
    ],
)
async def test_a_parameter_that_the_driver_does_not_know_or_read_is_named(
    tmp_path: Path, url: str, names: list[str]
) -> None:
    error = await refusal(LedgerSettings(url=url), tmp_path)

    assert isinstance(error, SettingsError) and error.facts["parameters"] == names
    assert "P4ssw0rd" not in error.message and "`ledger.url`" in error.message


async def test_a_password_among_the_parameters_is_not_told(tmp_path: Path) -> None:
    error = await refusal(LedgerSettings(url=f"mysql://me@{SERVER}?password=P4ssw0rd"), tmp_path)

    assert "cannot be reached" in error.message and "P4ssw0rd" not in repr(error.facts) + error.message


async def test_a_driver_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    error = await refusal(LedgerSettings(url="postgresql://host/silicon"), tmp_path)
    assert isinstance(error, SettingsError) and "needs the Python package psycopg" in error.message


async def test_a_closed_ledger_says_so(tmp_path: Path) -> None:
    store = await opened(tmp_path)
    await store.close()

    with pytest.raises(LedgerUnavailable, match="was closed"):
        await store.ledger.append(fact())
    with pytest.raises(LedgerUnavailable, match="was closed"):
        await store.ledger.read_all()


async def test_a_connection_that_the_server_dropped_is_made_anew(store: SqlStore) -> None:
    await store.ledger.append(fact())
    store.writer._committer._connection.driver_connection.close()

    await store.ledger.append(fact("order/b"))

    assert await store.ledger.head() == 2
