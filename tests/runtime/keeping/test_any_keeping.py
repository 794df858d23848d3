"""What holds after any history of work, erasures, holds, prunings, exports, imports and restores."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from contracts import ExecutionId
from runtime.canonical import sha256
from runtime.keeping import Holds, back_up, export_execution, prune, read_content, restore, take_in
from runtime.ledger import open_store
from runtime.ledger.port import NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock
from tests.runtime.keeping.history import add, execution, fact

T = TypeVar("T")
DAY = 86_400.0
KEPT_DAYS = 30
CHOICE = st.integers(min_value=0, max_value=1_000)


@dataclass
class Known:
    """What is known of an execution."""

    execution_id: ExecutionId
    result: bytes
    ended_on: float | None
    held: bool = False
    travelled: bool = False


class AnyKeeping(RuleBasedStateMachine):
    """A ledger that is worked on and kept, and another one that executions are taken to."""

    @initialize()
    def open(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.numbers = count()
        self.clock = HandClock()
        self.day = 0.0
        self.known: list[Known] = []
        self.ever: list[ExecutionId] = []
        self.store, self.other = self.opened("here"), self.opened("other")

    def opened(self, name: str) -> SqlStore:
        home = Path(self.folder.name) / name
        return self.do(open_store(LedgerSettings(synchronous="NORMAL"), home=home, clock=self.clock))

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def file(self) -> Path:
        return Path(self.folder.name) / f"file-{next(self.numbers)}"

    def some(self, choice: int) -> Known:
        return self.known[choice % len(self.known)]

    @rule(ended=st.booleans(), result=st.sampled_from([b"one", b"two", b"three"]))
    def work(self, ended: bool, result: bytes) -> None:
        execution_id = self.do(execution(self.store, ended=ended, result=result))
        self.known.append(Known(execution_id, result, self.day if ended else None))
        self.ever.append(execution_id)

    @precondition(lambda self: self.known)
    @rule(choice=CHOICE)
    def end(self, choice: int) -> None:
        known = self.some(choice)
        if known.ended_on is None:
            self.do(add(self.store, known.execution_id, "execution.finished", known.execution_id))
            known.ended_on = self.day

    @precondition(lambda self: self.known)
    @rule(choice=CHOICE, version=st.integers(min_value=1, max_value=3))
    def erase(self, choice: int, version: int) -> None:
        self.do(self.store.ledger.erase(f"order/{self.some(choice).execution_id.ulid}", version))

    @precondition(lambda self: self.known)
    @rule(choice=CHOICE)
    def hold_or_release(self, choice: int) -> None:
        known, holds = self.some(choice), Holds(self.store.ledger)
        if known.held:
            self.do(holds.release(known.execution_id, reason="settled", by="ana"))
        else:
            self.do(holds.place(known.execution_id, "acme", reason="case", by="ana"))
        known.held = not known.held

    @precondition(lambda self: self.ever)
    @rule(choice=CHOICE)
    def write_late(self, choice: int) -> None:
        """Somebody still writes to a stream of an execution, also when it was pruned meanwhile."""
        execution_id = self.ever[choice % len(self.ever)]
        stream = f"blackboard/{execution_id.ulid}/late"
        version = self.do(self.store.writer.do(lambda transaction: transaction.head(stream).version))
        self.do(self.store.ledger.append(fact(stream, version, NewEvent("key.written"), execution_id)))

    @rule(days=st.sampled_from([1, 20, 40]))
    def wait(self, days: int) -> None:
        self.day += days
        self.clock.advance(days * DAY)

    @rule()
    def prune(self) -> None:
        old = {
            each.execution_id
            for each in self.known
            if each.ended_on is not None and self.day - each.ended_on >= KEPT_DAYS and not each.held
        }
        pruned = self.do(
            prune(self.store, self.clock, days=KEPT_DAYS, stream_only_days=7, still_asks=lambda events: False)
        )
        assert old <= set(pruned.executions)  # and what was left or came late of those pruned before
        self.known = [each for each in self.known if each.execution_id not in old]
        assert self.do(self.store.ledger.streams("execution")) == [each.execution_id for each in self.known]

    @precondition(lambda self: self.known)
    @rule(choice=CHOICE)
    def travel(self, choice: int) -> None:
        known, file = self.some(choice), self.file()
        self.do(export_execution(self.store, known.execution_id, file, self.clock.now()))
        if not known.travelled:
            self.do(take_in(self.other, read_content(file), [], by="ana", now=self.clock.now()))
            known.travelled = True

    @invariant()
    def the_audit_is_clean(self) -> None:
        if hasattr(self, "store"):
            assert self.do(self.store.ledger.verify()) == []
            assert self.do(self.other.ledger.verify()) == []

    @invariant()
    def what_is_there_is_whole(self) -> None:
        for known in getattr(self, "known", []):
            assert self.do(self.store.ledger.read(known.execution_id))
            assert self.do(self.store.blobs.get(sha256(known.result))) == known.result

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        file = self.file()
        self.do(back_up(self.store, file))
        restore(LedgerSettings(), Path(self.folder.name) / "copy", file)
        copy = self.opened("copy")
        assert self.do(copy.ledger.read_all(limit=100_000)) == self.do(self.store.ledger.read_all(limit=100_000))
        for store in (copy, self.store, self.other):
            self.do(store.close())
        self.loop.close()
        self.folder.cleanup()


TestAnyKeeping = AnyKeeping.TestCase
TestAnyKeeping.settings = settings(max_examples=6, stateful_step_count=25, deadline=None)
