"""A bus without a broker: subscribers tail the ledger by position, and a commit only wakes them."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import AsyncGenerator

from contracts import Event
from runtime.bus.dead import dead_letters, drop, send_again
from runtime.bus.following import follow
from runtime.bus.group import Group, check_group
from runtime.bus.pattern import compile_pattern
from runtime.bus.port import DeadLetter, Handler
from runtime.bus.sharing import GroupState, NoSharing, Sharing
from runtime.bus.tail import POLL_S, Tail
from runtime.ledger.port import Store
from runtime.settings.groups import BusSettings


class InProcessBus:
    """The port `Bus` for one process; commits of other processes are found by looking every `poll_s` seconds.

    A subscriber holds one page of events at most, however slow it is, and the writer never waits for it. The members
    of a group share its events in the one process that holds the group's lease; those of others stand by.
    """

    def __init__(self, store: Store, settings: BusSettings | None = None, *, poll_s: float = POLL_S) -> None:
        self._store = store
        self._settings = settings or BusSettings()
        self._tail = Tail(store.ledger, poll_s=poll_s)
        self._holder = f"{socket.gethostname()[:100]}/{os.getpid()}/{secrets.token_hex(4)}"
        self._groups: dict[str, Group] = {}

    def subscribe(self, pattern: str, *, after: int) -> AsyncGenerator[Event, None]:
        """Yield the events after position `after` whose type fits `pattern`; see the port."""
        return follow(self._store.ledger, self._tail, compile_pattern(pattern), after=after)

    async def consume(self, group: str, pattern: str, handler: Handler, *, after: int = 0) -> None:
        """Be a member of `group` until cancelled; see the port."""
        found = self._groups.get(group)
        if found is None or found.members == 0:
            found = self._groups[group] = Group(
                group, pattern, store=self._store, tail=self._tail, share=self._share,
                settings=self._settings, holder=self._holder, after=after,
            )  # fmt: skip
        if found.pattern != pattern:
            raise ValueError(f"The members of {group} do not agree: {found.pattern!r} and {pattern!r}.")
        await found.work(handler)

    async def dead(self, group: str) -> list[DeadLetter]:
        """Return the dead letters of the group, oldest first."""
        return await dead_letters(self._store.ledger, check_group(group))

    async def retry(self, group: str, position: int, *, by: str) -> None:
        """Give a dead letter to its group once more; see the port."""
        await send_again(self._store.ledger, check_group(group), position, by=by)

    async def drop(self, group: str, position: int, *, by: str, reason: str) -> None:
        """Let the group have a dead letter no more; see the port."""
        await drop(self._store.ledger, check_group(group), position, by=by, reason=reason)

    async def close(self) -> None:
        """Let go of nothing: there is no connection."""

    def _share(self, group: GroupState) -> Sharing:
        return NoSharing()
