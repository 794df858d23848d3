"""The HTTP client of an endpoint: it asks nobody else, and reads no answer without end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from runtime.model.unpacking import Unpacking, unpacking_of

LONGEST_MIB = 64
"""MiB of an answer as it is read: a hundred times what a model says at most, and not all the memory there is."""


class AnswerTooLong(httpx2.ReadError):
    """The answer has more bytes than any answer may have."""


class AnswerUnreadable(httpx2.ReadError):
    """The answer is packed in a way that nobody can read here."""


def bounded_client(*, longest: int = LONGEST_MIB * 1_024 * 1_024) -> httpx2.AsyncClient:
    """Return a client that follows no redirect, asks for nothing packed, and fails in an answer of more bytes.

    An answer that is packed all the same is unpacked here, piece by piece, so that the limit holds for what it becomes.
    """
    from openai import DefaultAsyncHttpxClient

    async def bound(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        packings = response.headers.get_list("content-encoding", split_commas=True)
        response.headers.pop("content-encoding", None)  # else the library unpacks it once more, all at once
        response.stream = _Bounded(response.stream, longest, packings)

    return DefaultAsyncHttpxClient(
        follow_redirects=False, headers={"Accept-Encoding": "identity"}, event_hooks={"response": [bound]}
    )


class _Bounded(httpx2.AsyncByteStream):
    """The body of one answer, unpacked."""

    def __init__(self, inner: httpx2.AsyncByteStream, longest: int, packings: list[str]) -> None:
        self._inner = inner
        self._longest = longest
        self._packings = packings

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            unpacking = unpacking_of(self._packings)
            sent = read = 0
            async for chunk in self._inner:
                sent = self._counted(sent, chunk)
                if unpacking is None:
                    yield chunk
                    continue
                for piece in unpacking.pieces(chunk):
                    read = self._counted(read, piece)
                    yield piece
                    await asyncio.sleep(0)  # one part may become many, and everybody else has to have a turn
            _require_whole(unpacking, sent)
        except ValueError as error:
            raise AnswerUnreadable(str(error)) from None

    def _counted(self, taken: int, chunk: bytes) -> int:
        taken += len(chunk)
        if taken > self._longest:
            raise AnswerTooLong(f"it sent more than {self._longest:,} bytes, and no answer is that long")
        return taken

    async def aclose(self) -> None:
        """Close the connection beneath."""
        await self._inner.aclose()


def _require_whole(unpacking: Unpacking | None, sent: int) -> None:
    if unpacking is not None and sent and not unpacking.whole:
        raise ValueError("what it packed ends in the middle")
