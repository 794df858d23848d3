"""Group commit: whatever waits is committed together, by a thread, or at once where that takes less than asking one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from types import coroutine
from typing import Any, Generic, TypeVar

from contracts import Event
from runtime.errors import LedgerFull, LedgerUnavailable
from runtime.ledger.committing import Committed, Committer, Job
from runtime.ledger.database import Database
from runtime.ledger.port import Append

T = TypeVar("T")
Listener = Callable[[Sequence[Event]], None]

MOST_AT_ONCE = 1_000
MOST_HERE = 32
"""Jobs that the event loop commits by itself, 2 ms of work; more would keep everything else waiting."""
SHORT_COMMIT_S = 0.002
"""A commit that takes less is done on the event loop. Handing it to a thread and back costs 0.1 ms on two cores, which
is a seventh of a step even where the disk takes a millisecond."""
_log = logging.getLogger(__name__)


class _Steadfast(asyncio.Future[T]):
    """An answer that is waited for to the end: a task that is cancelled meanwhile ends as cancelled once it is here."""

    def cancel(self, msg: Any = None) -> bool:
        """Go on; the task remembers that it was cancelled."""
        return False


@dataclass(slots=True)  # not frozen: that would take three times as long to make
class _Waiting(Generic[T]):
    job: Job[T]
    answer: asyncio.Future[T]
    small: bool
    appends: Sequence[Append]
    then: Callable[[T], None] | None = None

    def deliver(self, outcome: Any) -> None:
        """Tell whoever waits what became of the job."""
        if not isinstance(outcome, BaseException) and self.then is not None:
            try:
                self.then(outcome)
            except Exception as error:  # it is stored all the same; whoever waits has to know that nothing came of it
                outcome = error
        if self.answer.done():  # whoever waited was cancelled
            return
        if isinstance(outcome, BaseException):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)

    def give_up(self) -> None:
        """End whoever waits: this process is being ended."""
        asyncio.Future.cancel(self.answer)


@coroutine
def _turn() -> Generator[None]:
    """Go on once everybody who is ready to go on has gone on."""
    yield


class Writer:
    """Runs jobs in commits. A lone job is committed without waiting; jobs that are there together share a commit.

    On a server, and on a disk that takes its time, a thread commits, so that the event loop goes on meanwhile, and
    what comes meanwhile shares the next commit. On an embedded file whose commits are short, small jobs are committed
    on the event loop: it never waits there for another process that writes, that is left to the thread.
    """

    def __init__(self, database: Database) -> None:
        self.listeners: list[Listener] = []
        self.full: LedgerFull | None = None
        """Why nothing could be written when that was last tried: for lack of space. Reading shows nothing of it."""
        self._database = database
        self._committer = Committer(database)
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Waiting[Any]] = []
        self._queue: SimpleQueue[Sequence[_Waiting[Any]] | None] = SimpleQueue()
        self._with_thread = 0
        """Jobs that the thread has not answered yet; while there are none, it touches nothing."""
        self._closed = False
        self._thread = Thread(target=self._run, name="ledger-writer", daemon=True)
        self._thread.start()

    async def do(
        self, job: Job[T], *, small: bool = False, appends: Sequence[Append] = (),
        then: Callable[[T], None] | None = None,
    ) -> T:  # fmt: skip
        """Run the job in a transaction and return its result once the commit is on disk.

        Args:
            small: it takes well under a millisecond, so the event loop may run it.
            appends: what it is going to append, so that everything about all that share a commit is asked for at once.
            then: called with the result on the event loop; whoever is cancelled while waiting ends only after that.
        """
        if self._closed:
            raise LedgerUnavailable(f"The ledger {self._database.address} was closed.", address=self._database.address)
        answer: asyncio.Future[T] = self._loop.create_future() if then is None else _Steadfast(loop=self._loop)
        self._waiting.append(_Waiting(job, answer, small, appends, then))
        if len(self._waiting) == 1:  # the first of a batch sees to it, so that a lone one is not woken up once more
            try:
                await _turn()
            except asyncio.CancelledError:
                self._commit_what_waits()
                if then is not None:
                    await answer
                raise
            self._commit_what_waits()
        return await answer

    async def close(self) -> None:
        """Commit what waits, then close the connection."""
        self._closed = True
        batch, self._waiting = self._waiting, []
        self._hand_over(batch)
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _commit_what_waits(self) -> None:
        batch, self._waiting = self._waiting, []
        if not batch:  # the ledger was closed meanwhile, which saw to it
            return
        done = self._committed_here(batch) if self._is_short(batch) else None
        if done is not None:
            self._deliver(batch, done)
        else:
            self._hand_over(batch)

    def _committed_here(self, batch: Sequence[_Waiting[Any]]) -> Committed | None:
        try:
            return self._committer.carry_out_at_once([waiting.job for waiting in batch], _appends_of(batch))
        except BaseException:
            for waiting in batch:
                waiting.give_up()
            raise

    def _is_short(self, batch: Sequence[_Waiting[Any]]) -> bool:
        return (
            self._with_thread == 0
            and bool(self._database.flavour.wait_not)
            and len(batch) <= MOST_HERE
            and self._committer.commit_s is not None
            and self._committer.commit_s < SHORT_COMMIT_S
            and all(waiting.small for waiting in batch)
        )

    def _hand_over(self, batch: Sequence[_Waiting[Any]]) -> None:
        """Let the thread commit."""
        self._with_thread += len(batch)
        for first in range(0, len(batch), MOST_AT_ONCE):
            self._queue.put(batch[first : first + MOST_AT_ONCE])

    def _run(self) -> None:
        open_ = True
        while open_:
            batch, open_ = self._next_batch()
            if batch:
                done = self._carried_out([waiting.job for waiting in batch], _appends_of(batch))
                try:
                    self._loop.call_soon_threadsafe(self._answer, batch, done)
                except RuntimeError:  # the loop is gone, and with it everybody who waited
                    _log.debug("nobody waits for %d commits any more", len(batch))
        self._committer.disconnect()

    def _carried_out(self, jobs: Sequence[Job[Any]], appends: Sequence[Append]) -> Committed:
        try:
            return self._committer.carry_out(jobs, appends)
        except BaseException as error:  # without this thread everybody would wait for ever
            _log.exception("a commit ended in a way that nobody foresaw")
            self._committer.disconnect()
            return Committed([error] * len(jobs))

    def _next_batch(self) -> tuple[list[_Waiting[Any]], bool]:
        """Return what waits, and whether more may come; waits for the first."""
        batch: list[_Waiting[Any]] = []
        waiting = self._queue.get()
        while waiting is not None:
            batch += waiting
            if len(batch) >= MOST_AT_ONCE:
                return batch, True
            try:
                waiting = self._queue.get_nowait()
            except Empty:
                return batch, True
        return batch, False

    def _answer(self, batch: Sequence[_Waiting[Any]], done: Committed) -> None:
        self._with_thread -= len(batch)
        self._deliver(batch, done)

    def _deliver(self, batch: Sequence[_Waiting[Any]], done: Committed) -> None:
        if done.wrote:
            self.full = None
        for waiting, outcome in zip(batch, done.outcomes, strict=True):
            if isinstance(outcome, LedgerFull):
                self.full = outcome
            waiting.deliver(outcome)
        if done.events:
            self._announce(done.events)

    def _announce(self, events: Sequence[Event]) -> None:
        for listener in tuple(self.listeners):
            try:
                listener(events)
            except Exception:
                _log.exception("a listener of the ledger failed; the events are stored all the same")


def _appends_of(batch: Sequence[_Waiting[Any]]) -> list[Append]:
    return [append for waiting in batch for append in waiting.appends]
