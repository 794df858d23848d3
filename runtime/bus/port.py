"""What a bus promises."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from contracts import Event, Json
from runtime.ledger.port import Append

Handler = Callable[[Event], Awaitable[Sequence[Append] | None]]
"""Handles one event for a group; what it returns is stored in the commit that settles the event."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that a group could not handle, however often it was delivered."""

    group: str
    position: int
    """Where the event stands; its name towards `Bus.retry` and `Bus.drop`."""
    stream: str
    type: str
    tries: int
    error: Json
    """The last failure: `code` and `message`."""
    at: datetime


class Bus(Protocol):
    """Delivers what the ledger committed; nothing else, and nothing before it is committed."""

    def subscribe(self, pattern: str, *, after: int) -> AsyncGenerator[Event, None]:
        """Yield the events after position `after` whose type fits `pattern`, in order, each exactly once, for ever.

        `*` in the pattern stands for any characters: `step.*`, `*.finished`, `*`. The position of the last event seen
        is all that a subscriber keeps: with it, it goes on where it was, also in another process. Subscribers of one
        process share the events; none of them may change their data.

        Close the generator when done, best with `contextlib.aclosing`.

        Raises:
            ValueError: the pattern can fit no type of event.
            LedgerError: the ledger cannot be read now. Subscribe again after the last position seen.
        """
        ...

    async def consume(self, group: str, pattern: str, handler: Handler, *, after: int = 0) -> None:
        """Be a member of `group` until cancelled: handle events that fit `pattern`, sharing them with other members.

        Each event is delivered at least once, and settled exactly once: what the handler returns is stored in the one
        commit that marks the event as settled, and is dropped when another member settled it meanwhile. Whatever a
        handler does besides may happen twice. Events are handed out in order, but several members work at once.

        A failure is tried again after a while, at most `bus.deliveries` times in all; so is a handler that takes longer
        than `bus.stale_s`, and an event whose member died. Then the event goes to the dead letters. A lost ledger and
        a stream that moved on are no failures of the event: it is handled again.

        The events `message.*`, by which groups tell of their dead letters, are never given to a group.

        Args:
            group: its name, `a-z`, digits and `-`, at most 64 characters. Members in one process give one pattern.
            after: where a new group begins; one that exists goes on where it was.
        """
        ...

    async def dead(self, group: str) -> list[DeadLetter]:
        """Return the dead letters of the group, oldest first."""
        ...

    async def retry(self, group: str, position: int, *, by: str) -> None:
        """Give a dead letter to its group once more, with all its tries; `by` says who asked.

        Raises:
            NotFound: the group has no such dead letter.
        """
        ...

    async def drop(self, group: str, position: int, *, by: str, reason: str) -> None:
        """Let the group have a dead letter no more, for good; `by` says who decided it.

        Raises:
            NotFound: the group has no such dead letter.
        """
        ...

    async def close(self) -> None:
        """Let go of every connection. Members and subscribers end before."""
        ...
