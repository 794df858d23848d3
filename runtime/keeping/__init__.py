"""What an operator does with a whole ledger: back it up, restore, export and import one execution, prune, hold.

Importing this package costs nothing: SQLAlchemy takes 0.4 s to import, so what needs it is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from contracts import Event, ExecutionId
from runtime.clock import Clock
from runtime.keeping.holds import Holds
from runtime.keeping.results import BackupMade, Exported, Gone, Hold, Imported, Pruned, Restored
from runtime.ledger.port import Stream
from runtime.settings.groups import LedgerSettings

if TYPE_CHECKING:
    from runtime.keeping.content import Content
    from runtime.keeping.importing import Closing
    from runtime.ledger.store import SqlStore

__all__ = [
    "BackupMade",
    "Exported",
    "Gone",
    "Hold",
    "Holds",
    "Imported",
    "Pruned",
    "Restored",
    "back_up",
    "export_execution",
    "gone",
    "prune",
    "pruned_events",
    "read_content",
    "restore",
    "take_in",
]


async def back_up(store: SqlStore, path: Path) -> BackupMade:
    """Write a copy of the ledger to a new file, see `backup.py`."""
    from runtime.keeping import backup

    return await backup.back_up(store, path)


def restore(settings: LedgerSettings, home: Path, path: Path) -> Restored:
    """Put a backup into the empty database that the settings name, see `restore.py`."""
    from runtime.keeping import restoring
    from runtime.ledger.database import Database, address_of

    return restoring.restore(Database(address_of(settings, home), settings), path)


async def export_execution(store: SqlStore, execution_id: ExecutionId, path: Path, now: datetime) -> Exported:
    """Write one execution into a new file, see `exporting.py`."""
    from runtime.keeping import exporting

    return await exporting.export_execution(store, execution_id, path, now)


def read_content(path: Path) -> Content:
    """Read and check the file of one execution, see `content.py`."""
    from runtime.keeping import content

    return content.read_content(path)


async def take_in(store: SqlStore, content: Content, closing: Sequence[Closing], *, by: str, now: datetime) -> Imported:
    """Append what a file holds to the ledger, see `importing.py`."""
    from runtime.keeping import importing

    return await importing.take_in(store, content, closing=closing, by=by, now=now)


async def gone(store: SqlStore, stream: Stream) -> Gone | None:
    """Return what is known of a stream that was pruned; None for one that never was."""
    from runtime.keeping import due

    return await store.reader.in_thread(lambda connection: due.gone(connection, stream))


async def pruned_events(store: SqlStore) -> int:
    """Return how many events were pruned so far."""
    from runtime.keeping import due

    return await store.reader.in_thread(due.pruned_events)


async def prune(
    store: SqlStore,
    clock: Clock,
    *,
    days: float,
    stream_only_days: float,
    still_asks: Callable[[Sequence[Event]], bool],
    dry: bool = False,
    compact: bool = False,
) -> Pruned:
    """Take away what is old, see `pruning.py`; with `compact` an embedded file gives its free space back.

    Args:
        still_asks: tells by the events of a card that somebody decided whether it waits for others.
    """
    from runtime.keeping import pruning

    return await pruning.prune_store(
        store,
        clock,
        days=days,
        stream_only_days=stream_only_days,
        dry=dry,
        compact=compact,
        still_asks=still_asks,
    )
