"""What hosts and their users need: calls that reach a host, and a place to work in. Wiring hands the place in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from agents.workforce.inline import InlineWorkforce
from agents.workforce.ray.messages import Address
from contracts import Name
from runtime.ledger.port import Store
from runtime.settings.groups import ExecutorSettings


class Line(Protocol):
    """Carries calls to hosts."""

    async def call(self, actor: str, method: str, message: bytes) -> bytes:
        """Return the answer of the host's method; raise HostLost when the host's process is gone."""
        ...

    async def start_apart(self, employee: Name) -> Address:
        """Start a host for one employee alone; it ends with this process."""
        ...


class Office(Protocol):
    """Where a host works: the store, and the organisations that executions pinned."""

    @property
    def store(self) -> Store: ...  # noqa: D102

    @property
    def settings(self) -> ExecutorSettings: ...  # noqa: D102

    def workforce(self, bundle_sha256: str, home: Path) -> AbstractAsyncContextManager[InlineWorkforce]:
        """Give the employees of a pinned organisation; what they opened stays open as long as they are used."""
        ...

    async def close(self) -> None:
        """Close what was opened."""
        ...


class Node(Protocol):
    """A node of Ray, for processes that share a home folder with those of other nodes."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def labels(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def cores(self) -> int: ...  # noqa: D102


OpenOffice: TypeAlias = Callable[[Path, Mapping[str, Any], Node | None], Awaitable[Office]]
"""Opens the office of a home folder; the mapping has the settings that were given on a command line, and the node is
the one that the process belongs to where there are several."""
