"""One way out over HTTP: to judged addresses, never redirected, bounded, and it is known whether anything was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runtime.errors import BusinessRefusal, CapabilityFailed, NetworkFault
from runtime.settings import HttpSettings

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Request:
    """One request, whole."""

    call: str
    """Name of the capability, for messages."""
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    params: Sequence[tuple[str, str]] = ()
    """What is added to the query of the address."""


class _Sent:
    """Whether a request began to be sent, as the HTTP client tells it; only then can the service have acted."""

    began = False

    async def __call__(self, name: str, info: Mapping[str, object]) -> None:
        """Take note of one step of the client."""
        if name.endswith("send_request_headers.started"):
            self.began = True


class HttpLine:
    """The HTTP client of one connection, made when it is first needed."""

    def __init__(self, connection: str, *, allow_private: bool, settings: HttpSettings) -> None:
        self._connection = connection
        self._allow_private = allow_private
        self._settings = settings
        self._client: httpx.AsyncClient | None = None

    async def exchange(self, request: Request) -> tuple[httpx.Response, bytes]:
        """Return the answer and its bytes.

        Raises:
            NetworkFault: no whole answer came back.
            CapabilityFailed: as the subclass says. As long as nothing was sent, its facts say that nothing happened.
        """
        sent = _Sent()
        try:
            return await self._answer(request, sent)
        except CapabilityFailed as error:
            if not sent.began:
                error.facts["happened"] = "no"
            raise

    async def close(self) -> None:
        """Close every connection."""
        if self._client is not None:
            await self._client.aclose()

    async def _answer(self, request: Request, sent: _Sent) -> tuple[httpx.Response, bytes]:
        import httpx

        self._client = self._client or self._new_client()
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await self._send(self._client, request, sent)
        except (httpx.RequestError, httpx.InvalidURL, TimeoutError) as error:
            why = str(error) or f"no answer within {self._settings.timeout_s:g} s"
            if sent.began:
                what = f"the request was sent and no whole answer came back ({why})."
            else:
                what = f"no connection to {_origin(request.url)} ({why}). Nothing was sent."
            raise NetworkFault(f"{request.call}: {what}", call=request.call) from error

    async def _send(self, client: httpx.AsyncClient, asked: Request, sent: _Sent) -> tuple[httpx.Response, bytes]:
        request = client.build_request(
            asked.method, asked.url, headers=dict(asked.headers), content=asked.content,
            params=tuple(asked.params) or None, extensions={"trace": sent},
        )  # fmt: skip
        response = await client.send(request, stream=True)
        try:
            return response, await self._read(asked.call, response)
        finally:
            await response.aclose()

    async def _read(self, call: str, response: httpx.Response) -> bytes:
        received = bytearray()
        async for chunk in response.aiter_bytes():
            received += chunk
            if len(received) > self._settings.response_kib * 1_024:
                raise BusinessRefusal(
                    f"{call} answered with more than {self._settings.response_kib} KiB. Ask it for less, or raise the "
                    "setting http.response_kib.", call=call, limit_kib=self._settings.response_kib,
                )  # fmt: skip
        return bytes(received)

    def _new_client(self) -> httpx.AsyncClient:
        import httpx

        from runtime.capabilities.http_pinned import PinnedTransport  # it is made of httpx

        return httpx.AsyncClient(
            transport=PinnedTransport(self._connection, allow_private=self._allow_private),
            timeout=self._settings.timeout_s,
            follow_redirects=False,
            trust_env=False,
            headers={"User-Agent": "silicon-org", "Accept": "application/json"},
        )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
