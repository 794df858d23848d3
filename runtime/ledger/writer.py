"""The one thread that writes: it holds its connection and commits together everything that waits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

from contracts import Event
from runtime.errors import LedgerError, LedgerUnavailable, SiliconError
from runtime.ledger.database import Database
from runtime.ledger.statements import Statements
from runtime.ledger.transaction import Head, Transaction

T = TypeVar("T")
Job = Callable[[Transaction], T]
"""Checks first and writes then: it may raise a SiliconError only before it wrote anything."""
Listener = Callable[[Sequence[Event]], None]

MOST_AT_ONCE = 1_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[T]):
    job: Job[T]
    answer: asyncio.Future[T]


class Writer:
    """Runs jobs in commits. A lone job is committed at once; jobs that come meanwhile share the next commit."""

    def __init__(self, database: Database) -> None:
        self.listeners: list[Listener] = []
        self._database = database
        self._statements = Statements(database.engine.dialect)
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Waiting[Any] | None] = SimpleQueue()
        self._closed = False
        self._connection: Any = None
        self._heads: dict[str, Head] = {}
        self._position = -1
        self._thread = Thread(target=self._run, name="ledger-writer", daemon=True)
        self._thread.start()

    async def do(self, job: Job[T]) -> T:
        """Run the job in a transaction and return its result once the commit is on disk."""
        if self._closed:
            raise LedgerUnavailable(f"The ledger {self._database.address} was closed.", address=self._database.address)
        answer: asyncio.Future[T] = self._loop.create_future()
        self._queue.put(_Waiting(job, answer))
        return await answer

    async def close(self) -> None:
        """Commit what waits, then close the connection."""
        self._closed = True
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        open_ = True
        while open_:
            batch, open_ = self._next_batch()
            if batch:
                self._carry_out(batch)
        self._disconnect()

    def _next_batch(self) -> tuple[list[_Waiting[Any]], bool]:
        """Return what waits, and whether more may come; waits for the first."""
        batch: list[_Waiting[Any]] = []
        waiting = self._queue.get()
        while waiting is not None:
            batch.append(waiting)
            if len(batch) == MOST_AT_ONCE:
                return batch, True
            try:
                waiting = self._queue.get_nowait()
            except Empty:
                return batch, True
        return batch, False

    def _carry_out(self, batch: Sequence[_Waiting[Any]]) -> None:
        try:
            outcomes, events = self._commit(batch)
        except _NotCommitted as failure:
            if failure.may_be_one_job and len(batch) > 1:
                for waiting in batch:  # one of them broke the transaction: the others must not suffer
                    self._carry_out([waiting])
                return
            outcomes, events = [failure.error] * len(batch), []
        try:
            self._loop.call_soon_threadsafe(self._deliver, batch, outcomes, events)
        except RuntimeError:  # the loop is gone, and with it everybody who waited
            _log.debug("nobody waits for %d commits any more", len(batch))

    def _commit(self, batch: Sequence[_Waiting[Any]]) -> tuple[list[Any], list[Event]]:
        fresh = self._connection is None
        try:
            return self._attempt(batch)
        except _NotCommitted as failure:
            self._disconnect()
            if fresh or not failure.lost_connection:
                raise
        return self._attempt(batch)  # an idle connection that the server closed: once more, on a new one

    def _attempt(self, batch: Sequence[_Waiting[Any]]) -> tuple[list[Any], list[Event]]:
        outcomes: list[Any] = []
        stage = _Stage.BEGINNING
        try:
            transaction = self._begin()
            stage = _Stage.WORKING
            for waiting in batch:
                try:
                    outcomes.append(waiting.job(transaction))
                except SiliconError as refusal:
                    outcomes.append(refusal)
            transaction.finish()
            stage = _Stage.COMMITTING
            transaction.cursor.execute("COMMIT")
        except Exception as error:
            raise self._not_committed(error, stage) from error
        self._position = transaction.position
        return outcomes, transaction.committed

    def _begin(self) -> Transaction:
        if self._connection is None:
            self._connection = self._database.engine.raw_connection()
        cursor = self._connection.driver_connection.cursor()
        cursor.execute(self._database.flavour.begin)
        cursor.execute(self._statements.lock_counter, (1,))
        row = cursor.fetchone()
        if row is None:
            raise LedgerError(
                f"The ledger {self._database.address} has lost its counter, so nothing can be written. "
                "`silicon audit verify` lists what was changed; restore the ledger from a backup.",
                address=self._database.address,
            )
        (position,) = row
        if position != self._position:  # another process wrote: what is remembered of streams may be old
            self._heads.clear()
        return Transaction(cursor, self._statements, self._heads, position)

    def _not_committed(self, error: Exception, stage: _Stage) -> _NotCommitted:
        is_drivers = isinstance(error, (self._database.driver_error, OSError)) or hasattr(error, "orig")
        if not is_drivers:
            _log.error("a job of the ledger failed", exc_info=error)
        return _NotCommitted(
            self._database.translate(error) if is_drivers else error,
            may_be_one_job=stage is _Stage.WORKING,
            lost_connection=stage is not _Stage.COMMITTING and self._connection_is_lost(error),
        )

    def _connection_is_lost(self, error: Exception) -> bool:
        connection = self._connection and self._connection.driver_connection
        dialect: Any = self._database.engine.dialect
        return bool(dialect.is_disconnect(error, connection, None))

    def _disconnect(self) -> None:
        """Drop the connection, and with it whatever it had not committed."""
        connection, self._connection = self._connection, None
        self._heads.clear()
        self._position = -1
        if connection is not None:
            try:
                connection.invalidate()
            except Exception:
                _log.debug("closing a broken connection failed", exc_info=True)

    def _deliver(self, batch: Sequence[_Waiting[Any]], outcomes: Sequence[Any], events: Sequence[Event]) -> None:
        for waiting, outcome in zip(batch, outcomes, strict=True):
            if waiting.answer.done():  # whoever waited was cancelled
                continue
            if isinstance(outcome, Exception):
                waiting.answer.set_exception(outcome)
            else:
                waiting.answer.set_result(outcome)
        if events:
            self._announce(events)

    def _announce(self, events: Sequence[Event]) -> None:
        for listener in tuple(self.listeners):
            try:
                listener(events)
            except Exception:
                _log.exception("a listener of the ledger failed; the events are stored all the same")


class _Stage(Enum):
    """How far a transaction came before it failed."""

    BEGINNING = 1
    """It never began, so no single job can be to blame."""
    WORKING = 2
    """Some job broke it."""
    COMMITTING = 3
    """Nobody can tell whether it was committed; it must not be tried again."""


class _NotCommitted(Exception):
    """Nothing of a batch was committed, as far as anybody can tell."""

    def __init__(self, error: Exception, *, may_be_one_job: bool, lost_connection: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.may_be_one_job = may_be_one_job
        self.lost_connection = lost_connection
