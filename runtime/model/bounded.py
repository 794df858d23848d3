"""The HTTP client of an endpoint: it asks nobody else, and reads no answer without end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

LONGEST_MIB = 64
"""MiB of an answer as it is sent: a hundred times what a model says at most, and not all the memory there is."""


def bounded_client(*, longest: int = LONGEST_MIB * 1_024 * 1_024) -> httpx2.AsyncClient:
    """Return a client that follows no redirect, asks for nothing packed, and fails in an answer of more bytes."""
    from openai import DefaultAsyncHttpxClient

    async def bound(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream, longest)

    return DefaultAsyncHttpxClient(
        follow_redirects=False, headers={"Accept-Encoding": "identity"}, event_hooks={"response": [bound]}
    )


class _Bounded(httpx2.AsyncByteStream):
    """The body of one answer."""

    def __init__(self, inner: httpx2.AsyncByteStream, longest: int) -> None:
        self._inner = inner
        self._longest = longest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for chunk in self._inner:
            taken += len(chunk)
            if taken > self._longest:
                raise httpx2.ReadError(f"it sent more than {self._longest:,} bytes, and no answer is that long")
            yield chunk

    async def aclose(self) -> None:
        """Close the connection beneath."""
        await self._inner.aclose()
