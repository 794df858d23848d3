"""A subscriber: the ledger from any position to its end, and then on with the tail."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from contracts import Event
from runtime.bus.tail import PAGE, Tail
from runtime.ledger.port import Ledger


async def follow(ledger: Ledger, tail: Tail, fits: Callable[[str], bool], *, after: int) -> AsyncGenerator[Event, None]:
    """Yield the events after the position whose type fits, in order, each once; it holds one page of them at most."""
    seen = after
    async with tail.following():
        while True:
            page = tail.after(seen)
            if page is None:
                page, seen = await _page_of(ledger, tail, seen)
            for event in page:
                seen = event.position
                if fits(event.type):
                    yield event
            if not page:
                await tail.moved(seen)


async def _page_of(ledger: Ledger, tail: Tail, seen: int) -> tuple[list[Event], int]:
    """Return a page of the ledger, and the position up to which nothing else is there when it is empty."""
    floor = tail.floor
    page = await ledger.read_all(after=seen, limit=PAGE)
    return page, seen if page else max(seen, floor)
