"""The writer's connection: runs jobs in one transaction and commits them, whatever the driver says."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from contracts import Event
from runtime.errors import LedgerError, SiliconError
from runtime.ledger.database import Database
from runtime.ledger.port import Append
from runtime.ledger.statements import statements_for
from runtime.ledger.transaction import Memory, Transaction

T = TypeVar("T")
Job = Callable[[Transaction], T]
"""Checks first and writes then: it may raise a SiliconError only before it wrote anything."""

_SMOOTHING = 1 / 16
_LOOKS, _LOOK_S = 25, 0.0002
"""How often it is looked whether another process still writes, and how far apart, before SQLite waits in its own way:
that sleeps 1, 2, 5, 10 … ms, and a commit that takes the event loop's place is over in less."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Committed:
    """What became of some jobs."""

    outcomes: list[Any] = field(default_factory=list)
    """For each job its result, or the exception that it ends with."""
    events: list[Event] = field(default_factory=list)
    """What was stored."""
    wrote: bool = False
    """Whether the database took something in, be it no event."""


class Committer:
    """One connection and what is remembered from one transaction to the next. Used by one thread at a time."""

    def __init__(self, database: Database) -> None:
        self.commit_s: float | None = None
        """How long a commit takes at the moment; None before the first."""
        self._database = database
        self._statements = statements_for(database.engine.dialect)
        self._memory = Memory()
        self._doubtful = False
        """Whether another database may stand behind the address by now."""
        database.on_break.append(self._doubt)
        self._connection: Any = None
        self._cursor: Any = None
        """Of the connection, on which everything runs."""
        self._waits = True

    def carry_out(self, jobs: Sequence[Job[Any]], appends: Sequence[Append] = ()) -> Committed:
        """Run the jobs, which append all this, in one commit; return what became of each.

        It waits for whoever else writes.
        """
        try:
            return self._commit(jobs, appends)
        except _NotCommitted as failure:
            if not failure.may_be_one_job or len(jobs) == 1:
                return Committed([failure.error] * len(jobs))
        apart = [self.carry_out([job]) for job in jobs]  # one of them broke the transaction: the others must not suffer
        return Committed(
            [outcome for one in apart for outcome in one.outcomes],
            [event for one in apart for event in one.events],
            wrote=any(one.wrote for one in apart),
        )

    def carry_out_at_once(self, jobs: Sequence[Job[Any]], appends: Sequence[Append] = ()) -> Committed | None:
        """Run the jobs in one commit; None, with nothing done, where that cannot begin without waiting."""
        if self._connection is None:
            return None
        try:
            return self._attempt(jobs, appends, wait=False)
        except _NotCommitted as failure:
            if not failure.somebody_writes:
                self.disconnect()
            return Committed([failure.error] * len(jobs)) if failure.may_be_committed else None
        except BaseException:  # the person who runs this has had enough
            self.disconnect()
            raise

    def disconnect(self) -> None:
        """Drop the connection, and with it whatever it had not committed."""
        connection, self._connection, self._cursor = self._connection, None, None
        self._memory.forget()
        self._waits = True
        if connection is not None:
            try:
                connection.invalidate()
            except Exception:
                _log.debug("closing a broken connection failed", exc_info=True)

    def _commit(self, jobs: Sequence[Job[Any]], appends: Sequence[Append]) -> Committed:
        fresh = self._connection is None
        try:
            return self._attempt_soon(jobs, appends)
        except _NotCommitted as failure:
            self.disconnect()
            if fresh or not failure.lost_connection:
                raise
        return self._attempt(jobs, appends)  # an idle connection that the server closed: once more, on a new one

    def _attempt_soon(self, jobs: Sequence[Job[Any]], appends: Sequence[Append]) -> Committed:
        looks = _LOOKS if self._database.flavour.wait_not and self._connection is not None else 0
        for _ in range(looks):
            try:
                return self._attempt(jobs, appends, wait=False)
            except _NotCommitted as failure:
                if not failure.somebody_writes:
                    raise
            time.sleep(_LOOK_S)
        return self._attempt(jobs, appends)

    def _attempt(self, jobs: Sequence[Job[Any]], appends: Sequence[Append], *, wait: bool = True) -> Committed:
        done = Committed()
        stage = _Stage.CONNECTING
        try:
            cursor = self._connected(wait=wait)
            cursor.execute(self._database.flavour.begin)
            stage = _Stage.BEGINNING
            transaction = self._begin(cursor)
            if len(appends) > 1:
                transaction.look_up(appends)
            stage = _Stage.WORKING
            for job in jobs:
                try:
                    done.outcomes.append(job(transaction))
                except SiliconError as refusal:
                    done.outcomes.append(refusal)
            transaction.finish()
            stage = _Stage.COMMITTING
            self._timed(cursor)
        except Exception as error:
            raise self._not_committed(error, stage) from error
        self._memory.position = transaction.position
        done.events, done.wrote = transaction.committed, transaction.wrote
        return done

    def _connected(self, *, wait: bool) -> Any:
        if self._connection is None:
            self._connection = self._database.engine.raw_connection()
        if self._cursor is None:
            self._cursor = self._connection.driver_connection.cursor()
        if wait != self._waits:
            self._cursor.execute(self._database.flavour.wait if wait else self._database.flavour.wait_not)
            self._waits = wait
        return self._cursor

    def _begin(self, cursor: Any) -> Transaction:
        cursor.execute(self._statements.lock_counter, (1,))
        row = cursor.fetchone()
        if row is None:
            raise LedgerError(
                f"The ledger {self._database.address} has lost its counter, so nothing can be written. "
                "`silicon audit verify` lists what was changed; restore the ledger from a backup.",
                address=self._database.address,
            )
        if self._doubtful or row[0] < self._memory.position:
            self._doubtful = False
            self._memory.forget()
        return Transaction(cursor, self._statements, self._memory, row[0])

    def _doubt(self) -> None:
        self._doubtful = True  # read where the next transaction begins: another thread may be in the middle of one

    def _timed(self, cursor: Any) -> None:
        begun = time.perf_counter()
        cursor.execute("COMMIT")
        taken = time.perf_counter() - begun
        self.commit_s = taken if self.commit_s is None else self.commit_s + (taken - self.commit_s) * _SMOOTHING

    def _not_committed(self, error: Exception, stage: _Stage) -> _NotCommitted:
        is_drivers = isinstance(error, (self._database.driver_error, OSError)) or hasattr(error, "orig")
        if not is_drivers:
            _log.error("a job of the ledger failed", exc_info=error)
        return _NotCommitted(
            self._database.translate(error) if is_drivers else error,
            stage,
            lost_connection=stage is not _Stage.COMMITTING and self._connection_is_lost(error),
        )

    def _connection_is_lost(self, error: Exception) -> bool:
        connection = self._connection and self._connection.driver_connection
        dialect: Any = self._database.engine.dialect
        return bool(dialect.is_disconnect(error, connection, None))


class _Stage(Enum):
    """How far a transaction came before it failed."""

    CONNECTING = 0
    """No transaction is open: the database could not be reached, or somebody else writes."""
    BEGINNING = 1
    """No job has run, so no single one can be to blame."""
    WORKING = 2
    """Some job broke it."""
    COMMITTING = 3
    """Nobody can tell whether it was committed; it must not be tried again."""


class _NotCommitted(Exception):
    """Nothing of some jobs was committed, as far as anybody can tell."""

    def __init__(self, error: Exception, stage: _Stage, *, lost_connection: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.somebody_writes = stage is _Stage.CONNECTING and not lost_connection
        self.may_be_one_job = stage is _Stage.WORKING
        self.may_be_committed = stage is _Stage.COMMITTING
        self.lost_connection = lost_connection
