"""A server that cannot work says why, and starts nothing."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from console.server.errors import AddressInUse
from console.server.listener import address_of, listen
from console.server.server import serve
from console.server.told import Told
from runtime.errors import LedgerUnavailable, NotFound, OrganisationFaulty, SchemaMismatch
from runtime.settings.groups import ServerSettings
from runtime.settings.load import Settings, load
from tests.servers import free_port

pytestmark = pytest.mark.anyio


def settings(tmp_path: Path, **given: Any) -> Settings:
    named = {name.replace("__", "."): value for name, value in given.items()}
    return load({"home": str(tmp_path / "home"), "server.port": 0, **named}, working=tmp_path)


async def told(settings: Settings) -> list[Told]:
    found: list[Told] = []
    await serve(settings, [], found.append)
    return found


async def test_a_database_that_cannot_be_reached(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match=r"127\.0\.0\.1"):
        await told(settings(tmp_path, ledger__url=f"mysql://root@127.0.0.1:{free_port()}/silicon"))


async def test_a_database_of_a_newer_program(tmp_path: Path) -> None:
    from runtime.ledger import upgrade

    file = tmp_path / "newer.db"
    upgrade(f"sqlite:///{file}")
    with sqlite3.connect(file) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()

    with pytest.raises(SchemaMismatch):
        await told(settings(tmp_path, ledger__url=f"sqlite:///{file}"))


async def test_an_address_that_is_taken_or_is_none(tmp_path: Path) -> None:
    with listen(ServerSettings(port=0)) as taken:
        port = int(address_of(taken).rpartition(":")[2])
        for host in ("127.0.0.1", "no.such.host.invalid"):
            with pytest.raises(AddressInUse, match=f"port {port}") as refused:
                await told(settings(tmp_path, server__port=port, server__host=host))
            assert refused.value.facts["port"] == port


async def test_a_folder_with_faults_or_none_at_all(tmp_path: Path) -> None:
    (tmp_path / "org.yaml").write_text("name: [")
    for folder, error in ((tmp_path, OrganisationFaulty), (tmp_path / "nowhere", NotFound)):
        with pytest.raises(error):
            await serve(settings(tmp_path), [folder], lambda told: None)


def test_an_address_of_version_six_is_written_as_one() -> None:
    try:
        listening = listen(ServerSettings(host="::1", port=0))
    except AddressInUse:
        pytest.skip("this machine has no IPv6")
    with listening:
        assert address_of(listening).startswith("http://[::1]:")
