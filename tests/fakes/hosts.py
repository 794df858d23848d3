"""Hosts without Ray: several of them in this process, which tests end as they like."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agents.workforce import InlineWorkforce
from agents.workforce.errors import HostLost
from agents.workforce.ray.host import Host
from agents.workforce.ray.messages import Address, Stretch
from agents.workforce.ray.post import Apart, Post
from agents.workforce.ray.seating import Seating
from agents.workforce.ray.vigil import Vigil
from contracts import Name, StatusReport
from runtime.executor import ExecutionRun
from runtime.ledger.port import Store
from runtime.settings.groups import ExecutorSettings


@dataclass
class FakeOffice:
    """Where a host works: with a workforce that the test has made."""

    store: Store
    here: InlineWorkforce
    settings: ExecutorSettings = field(default_factory=ExecutorSettings)

    @asynccontextmanager
    async def workforce(self, bundle_sha256: str, home: Path) -> AsyncIterator[InlineWorkforce]:
        yield self.here

    async def close(self) -> None:
        """The test closes its store itself."""


@dataclass
class FakeLine:
    """The port `Line` without processes: a host that has ended answers nothing any more."""

    hosts: dict[str, Host] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)

    async def open(self, actor: str, office: FakeOffice, *, alone: Name | None = None) -> Address:
        """Open a host."""
        host = Host(office, self, actor=actor, alone=alone, end=lambda: self.ended.append(actor))
        address = await host.open()
        self.hosts[actor] = host
        return address

    async def call(self, actor: str, method: str, message: bytes) -> bytes:
        self.calls.append((actor, method))
        if actor in self.ended:
            raise HostLost(actor)
        there = asyncio.create_task(getattr(self.hosts[actor], method)(message))
        answer: bytes = await asyncio.shield(there)  # who waits may stop to; the host goes on until it is told
        if actor in self.ended:
            raise HostLost(actor)
        return answer

    async def start_apart(self, employee: Name) -> Address:
        raise AssertionError(f"{employee} sits with others")

    async def close(self) -> None:
        """Close all hosts."""
        for host in self.hosts.values():
            await host.close()


@dataclass
class InHosts:
    """Carries each stretch of an execution out in two new hosts, as the workforce on Ray does."""

    store: Store
    here: InlineWorkforce

    async def run(self, run: ExecutionRun) -> StatusReport:
        line, vigil = FakeLine(), Vigil(self.store.leases, look_s=60.0)
        office = FakeOffice(self.store, self.here)
        hosts = tuple([await line.open(f"host-{number}", office) for number in range(2)])
        (lease,) = run.leases
        stretch = Stretch(run.execution_id, lease, run.resumed, run.reopened, hosts)
        try:
            post = Post(stretch, Seating(self.here.staff), line, vigil, Apart(line), known=run.known)
            return await self.here.run(run, send=post.send)
        finally:
            vigil.close()
            await line.close()
