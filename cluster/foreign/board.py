"""What several parts of this process and others wait for, in one place: rows of SQL, and a bell that shortens waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from sqlalchemy import select

from cluster.control_plane.round import Round, Rules
from cluster.control_plane.rows import Decoder
from cluster.control_plane.statements import Statements
from cluster.foreign.rows import CallRow, CallStatements
from contracts import CallId
from runtime.clock import Clock
from runtime.errors import NotFound
from runtime.ledger.schema import cluster_calls as calls
from runtime.ledger.store import SqlStore
from runtime.ledger.transaction import Transaction
from runtime.settings import ClusterSettings, SlotSettings

T = TypeVar("T")


class Board:
    """The rows that bridges and the gateway share, as one process reads and writes them.

    Every change is one job of the ledger's writer. Whoever waits for a change of another process looks every
    `cluster.pull_s`; a change of this one is seen at once.
    """

    def __init__(self, store: SqlStore, clock: Clock, *, slot: SlotSettings, cluster: ClusterSettings) -> None:
        self.store = store
        self.clock = clock
        self.slot = slot
        self.cluster = cluster
        self.rules = Rules(slot.lease_s, cluster.lost_s, cluster.accept_s)
        self.sql = Statements(store.database.engine.dialect)
        self.calls = CallStatements(store.database.engine.dialect)
        self._decode = Decoder()
        self._rung = asyncio.Event()
        self._hastens = False

    def round(self, transaction: Transaction) -> Round:
        """Return one look at the queue, on behalf of nobody: what is given out is assigned, and waits to be taken."""
        return Round(transaction, self.sql, self._decode, self.rules, now=self.clock.now(), me="")

    async def write(self, job: Callable[[Transaction, datetime], T]) -> T:
        """Do a job of the writer, and tell whoever waits."""
        done = await self.store.writer.do(lambda transaction: job(transaction, self.clock.now()), small=True)
        self.ring()
        return done

    def ring(self) -> None:
        """Let everybody who waits look again."""
        self._rung.set()
        self._rung = asyncio.Event()

    @property
    def hastens(self) -> bool:
        """Whether nobody is to wait here any more."""
        return self._hastens

    def hasten(self) -> None:
        """Let every wait for other people's words end now: this process takes no more requests."""
        self._hastens = True
        self.ring()

    async def rest(self, within_s: float | None = None) -> None:
        """Return after the next ring, or when it is time to look again."""
        rung = self._rung
        patience = self.cluster.pull_s if within_s is None else min(self.cluster.pull_s, within_s)
        try:
            async with asyncio.timeout(patience):
                await rung.wait()
        except TimeoutError:
            return

    async def until(self, moment: datetime) -> None:
        """Return once that moment is over by the clock of the leases, which need not go as the event loop's does."""
        while (left_s := (moment - self.clock.now()).total_seconds()) >= 0:
            await self.rest(left_s + 0.001)

    async def row(self, call_id: CallId) -> CallRow:
        """Return a call; raise NotFound when there is none."""
        columns = [calls.c[name] for name in ("call_id", "order_id", "fence", "stage", "call", "said")]
        rows = await self.store.reader.rows(select(*columns).where(calls.c.call_id == call_id))
        if not rows:
            raise NotFound(f"There is no {call_id}, or it was settled long ago.", call_id=call_id)
        return CallRow.from_row(rows[0])
