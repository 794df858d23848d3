"""A MySQL server that takes less at once than a step may store: told when it is opened, not tried for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from runtime.errors import LedgerUnavailable
from runtime.ledger import open_store
from runtime.ledger.port import Append, NewEvent
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.servers import MariaDb

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("servers")]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MariaDb]:
    with MariaDb(tmp_path, durable=False) as server:
        yield server


def limit(server: MariaDb, packet: int) -> None:
    """Set what new connections may send at once, and end those that there are."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute(f"SET GLOBAL max_allowed_packet = {packet}")
        cursor.execute("SELECT id FROM information_schema.processlist WHERE user = 'root' AND id <> CONNECTION_ID()")
        for (number,) in cursor.fetchall():
            cursor.execute(f"KILL {number}")


async def test_a_server_that_takes_too_little_at_once_is_refused_with_what_to_set(
    server: MariaDb, tmp_path: Path
) -> None:
    fact = Append("order/a", [NewEvent("step.finished", {"x": "y" * 4_000_000})], 0, "acme", "/organisation/acme")
    with server.database() as url:
        store = await open_store(LedgerSettings(url=url), home=tmp_path, clock=HandClock())
        limit(server, 1_048_576)
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match=r"Set its max_allowed_packet to 16 MiB or more"):
                await store.ledger.append(fact)
        with pytest.raises(LedgerUnavailable, match=r"Set its max_allowed_packet to 16 MiB or more"):
            await open_store(LedgerSettings(url=url), home=tmp_path, clock=HandClock())

        limit(server, 16 * 1_048_576)
        await store.ledger.append(fact)
        await store.close()
