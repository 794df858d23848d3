"""A response of server-sent events that ends cleanly: with its events, with its reader, or with the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from console.api.feed import Feed, Frame
from contracts import Json
from runtime.canonical import to_bytes

CHUNK = 64 * 1024
LAST_S = 2.0
"""How long a reader gets to take what is on its way when the server stops."""


def control(name: str, data: Json, *, position: int | None = None) -> bytes:
    """Return an event of the stream itself, which the ledger does not have: `gap`, `snapshot`, `end`."""
    at = b"" if position is None else f"id: {position}\n".encode()
    return b"event: %s\n%sdata: %s\n\n" % (name.encode(), at, to_bytes(data))


def silence(position: int) -> bytes:
    """Return what says that the stream still lives, and where a reader goes on that has seen nothing new."""
    return f": keep-alive\nid: {position}\n\n".encode()


def opening(position: int) -> bytes:
    """Return the first bytes: how soon to come back, and from where, also for a reader that leaves before any event."""
    return f"retry: 1000\nid: {position}\n\n".encode()


def chunks(frames: Sequence[Frame]) -> Sequence[bytes]:
    """Return the frames joined: many small ones are sent at once."""
    joined: list[bytes] = []
    size = CHUNK
    for frame in frames:
        if size + len(frame.data) > CHUNK:
            joined.append(frame.data)
            size = len(frame.data)
        else:
            joined[-1] += frame.data
            size += len(frame.data)
    return joined


class EventStream(Response):
    """Sends chunks as its reader takes them; it makes no chunk before the one before it has left."""

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncGenerator[bytes, None], feed: Feed) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._chunks = chunks
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the chunks end, the reader leaves or the server stops."""
        with self._feed.reading():
            sending = asyncio.ensure_future(self._send(send))
            ends = [sending, asyncio.ensure_future(_left(receive)), asyncio.ensure_future(self._stopped())]
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for end in ends:
                    end.cancel()
                await asyncio.wait(ends)
            if not sending.cancelled():
                sending.result()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._chunks) as chunks:
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stopped(self) -> None:
        await self._feed.closed.wait()
        await asyncio.sleep(LAST_S)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
