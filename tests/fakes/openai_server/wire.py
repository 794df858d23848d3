"""One connection of the server: requests read and answers written with h11, and a client that hangs up noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import h11

from tests.fakes.openai_server.script import Act, Cut, Head, Wait


class HungUp(Exception):
    """The client did not stay for its answer."""


class CutOff(Exception):
    """The script ended the connection."""


class Wire:
    """Speaks HTTP/1.1 over one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.SERVER)

    async def receive(self) -> tuple[h11.Request, bytes] | None:
        """Return the next request and its body; None when there will be none."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        request: h11.Request | None = None
        body = b""
        while self._http.our_state not in (h11.MUST_CLOSE, h11.CLOSED, h11.ERROR):
            match self._http.next_event():
                case h11.NEED_DATA:
                    self._http.receive_data(await self._reader.read(65_536))
                case h11.Request() as begun:
                    request = begun
                case h11.Data() as part:
                    body += bytes(part.data)
                case h11.EndOfMessage():
                    assert request is not None
                    return request, body
                case _:
                    return None
        return None

    async def play(self, acts: Sequence[Act], released: asyncio.Event) -> None:
        """Do on the wire what the script says, in turn.

        Raises:
            HungUp: the other side did not stay for it.
            CutOff: the script says that the connection ends.
        """
        try:
            await self._play(acts, released)
        except ConnectionError:
            raise HungUp from None

    async def _play(self, acts: Sequence[Act], released: asyncio.Event) -> None:
        length = sum(len(act) for act in acts if isinstance(act, bytes))
        for act in acts:
            match act:
                case Head():
                    self._send(self._response(act, length))
                case bytes():
                    self._send(h11.Data(data=act))
                case Wait():
                    await self._wait(act.seconds, released)
                case Cut():
                    await self._writer.drain()
                    raise CutOff
        self._send(h11.EndOfMessage())
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()

    def _response(self, head: Head, length: int) -> h11.Response:
        size = ("Transfer-Encoding", "chunked") if head.streams else ("Content-Length", str(length))
        return h11.Response(status_code=head.status, headers=[*head.headers, size])

    def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self._writer.write(data)

    async def _wait(self, seconds: float | None, released: asyncio.Event) -> None:
        """Wait, and look for a client that goes meanwhile."""
        gone = asyncio.create_task(self._until_gone())
        until = asyncio.create_task(released.wait() if seconds is None else asyncio.sleep(seconds))
        try:
            await asyncio.wait({gone, until}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                raise HungUp
        finally:
            gone.cancel()
            until.cancel()
            await asyncio.gather(gone, until, return_exceptions=True)  # one reader at a time

    async def _until_gone(self) -> None:
        try:
            while data := await self._reader.read(65_536):
                self._http.receive_data(data)
        except ConnectionError:
            return
