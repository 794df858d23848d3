"""Takes away what was only streamed, some days after what it makes up was stored as an event."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, bindparam, delete, select

from contracts import ExecutionId
from runtime.ledger.port import Stream
from runtime.ledger.rows import time_to_number
from runtime.ledger.schema import fragments, names, streams
from runtime.ledger.statements import compiled
from runtime.ledger.store import SqlStore
from runtime.ledger.transaction import Transaction

AT_ONCE = 1_000


async def prune_fragments(
    store: SqlStore, before: datetime, *, held: Collection[ExecutionId], but: Collection[Stream], dry: bool
) -> int:
    """Delete the fragments from before a moment and return how many went.

    One stays until an event of its stream was stored after it, and while its execution is under a hold.

    Args:
        but: streams that do not count, because they are about to go with their fragments.
    """
    statement = compiled(store.database.engine.dialect, delete(fragments).where(fragments.c.seq == bindparam("s")), "s")
    gone, after = 0, 0
    while page := await store.reader.in_thread(partial(_page, before=before, after=after)):
        after = page[-1][0]
        going = [seq for seq, execution_id, stream in page if execution_id not in held and stream not in but]
        gone += len(going)
        if not dry:
            await store.writer.do(partial(_delete, statement=statement, going=going))
    return gone


def _page(connection: Connection, *, before: datetime, after: int) -> list[tuple[int, str | None, str]]:
    """Return numbers, executions and streams of some fragments that may go."""
    executions = names.alias()
    query = (
        select(fragments.c.seq, executions.c.text, names.c.text)
        .join(names, names.c.number == fragments.c.stream)
        .outerjoin(executions, executions.c.number == fragments.c.execution_id)
        .outerjoin(streams, streams.c.stream == fragments.c.stream)
        .where(
            fragments.c.seq > after,
            fragments.c.time <= time_to_number(before),
            (streams.c.updated_at > fragments.c.time) | streams.c.stream.is_(None),
        )
        .order_by(fragments.c.seq)
        .limit(AT_ONCE)
    )
    return [tuple(row) for row in connection.execute(query)]


def _delete(transaction: Transaction, *, statement: str, going: list[int]) -> None:
    for seq in going:
        transaction.run(statement, seq)
