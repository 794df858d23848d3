"""What holds after any history of appends, conflicts, erasures, leases and restarts."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from runtime.canonical import clean
from runtime.errors import StaleWriter, VersionConflict
from runtime.ledger import open_store
from runtime.ledger.port import Append, Lease, NewEvent
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings
from tests.fakes.clock import HandClock

STREAMS = st.sampled_from(["order/a", "order/b", "card/a"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


class AnyHistory(RuleBasedStateMachine):
    """A ledger beside a model of it: lists of what was stored."""

    @initialize()
    def open(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = HandClock()
        self.stored: dict[str, list[Any]] = {}
        self.order: list[tuple[str, Any]] = []
        self.lease: Lease | None = None
        self.fence = 0
        self.store = self.opened()

    def opened(self) -> SqlStore:
        settings = LedgerSettings(synchronous="NORMAL")
        return self.loop.run_until_complete(open_store(settings, home=Path(self.folder.name), clock=self.clock))

    @rule(stream=STREAMS, values=st.lists(JSON, min_size=1, max_size=3), off=st.sampled_from([0, 0, 0, 1, -1]))
    def append(self, stream: str, values: list[Any], off: int) -> None:
        data = [{"value": clean(value)} for value in values]
        version = max(0, len(self.stored.get(stream, [])) + off)
        fits = version == len(self.stored.get(stream, []))
        append = Append(stream, [NewEvent("step.finished", one) for one in data], version, "acme", "/organisation/acme")
        try:
            self.loop.run_until_complete(self.store.ledger.append(append))
        except VersionConflict:
            assert not fits
        else:
            assert fits
            self.stored.setdefault(stream, []).extend(data)
            self.order.extend((stream, one) for one in data)

    @rule(stream=STREAMS)
    def append_under_lease(self, stream: str) -> None:
        if self.lease is None:
            return
        version = len(self.stored.get(stream, []))
        event = NewEvent("step.failed", {})
        append = Append(stream, [event], version, "acme", "/organisation/acme", leases=(self.lease,))
        try:
            self.loop.run_until_complete(self.store.ledger.append(append))
        except StaleWriter:
            assert self.lease.fence != self.fence
        else:
            assert self.lease.fence == self.fence
            self.stored.setdefault(stream, []).append({})
            self.order.append((stream, {}))

    @rule(stream=STREAMS, data=st.data())
    def erase(self, stream: str, data: st.DataObject) -> None:
        facts = self.stored.get(stream)
        if not facts:
            return
        version = data.draw(st.integers(1, len(facts)))
        self.loop.run_until_complete(self.store.ledger.erase(stream, version))
        if facts[version - 1] is not None:
            facts[version - 1] = None
            self.order.append(("erasure/acme", ...))

    @rule(holder=st.sampled_from(["a", "b"]), keep=st.booleans())
    def acquire(self, holder: str, keep: bool) -> None:
        self.clock.advance(20)
        lease = self.loop.run_until_complete(self.store.leases.acquire("execution/a", holder, 15))
        assert lease is not None and lease.fence == self.fence + 1
        self.fence = lease.fence
        self.lease = lease if keep else self.lease

    @rule()
    def restart(self) -> None:
        self.loop.run_until_complete(self.store.close())
        self.store = self.opened()

    @invariant()
    def what_is_read_is_what_was_stored(self) -> None:
        for stream, facts in self.stored.items():
            events = self.loop.run_until_complete(self.store.ledger.read(stream))
            assert [event.data for event in events] == facts
        every = self.loop.run_until_complete(self.store.ledger.read_all())
        assert [event.subject for event in every] == [stream for stream, _ in self.order]
        assert [event.position for event in every] == list(range(1, len(self.order) + 1))

    @invariant()
    def the_audit_is_clean(self) -> None:
        assert self.loop.run_until_complete(self.store.ledger.verify()) == []

    def teardown(self) -> None:
        self.loop.run_until_complete(self.store.close())
        self.loop.close()
        self.folder.cleanup()


AnyHistory.TestCase.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
TestAnyHistory = AnyHistory.TestCase
