"""What a bus promises."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from contracts import Event


class Bus(Protocol):
    """Delivers what the ledger committed; nothing else, and nothing before it is committed."""

    def subscribe(self, pattern: str, *, after: int) -> AsyncGenerator[Event, None]:
        """Yield the events after position `after` whose type fits `pattern`, in order, each exactly once, for ever.

        `*` in the pattern stands for any characters: `step.*`, `*.finished`, `*`. The position of the last event seen
        is all that a subscriber keeps: with it, it goes on where it was, also in another process.

        Close the generator when done, best with `contextlib.aclosing`.

        Raises:
            ValueError: the pattern can fit no type of event.
        """
        ...
