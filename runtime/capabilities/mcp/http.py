"""An MCP server at an address: the same guard as for services stands before each request, redirects included.

The SDK ends the whole session when one request fails, and tells no status. So what fails here is answered as a JSON-RPC
error of that one request, and what is known of it is noted in its `Exchange`.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from runtime.capabilities.http_answer import fault_of
from runtime.capabilities.http_guard import allowed_address
from runtime.capabilities.mcp.exchange import EXCHANGE, Exchange
from runtime.errors import BusinessRefusal, CapabilityFailed, NetworkFault, PermissionRefused
from runtime.telemetry.redaction import register

_CONNECT_S = 10.0
_SESSION = "mcp-session-id"
_NO_ANSWER = -32_603  # JSON-RPC: internal error


@asynccontextmanager
async def http_transport(
    name: str, url: str, *, headers: Mapping[str, str], allow_private: bool, limit_kib: int
) -> AsyncIterator[Any]:
    """Yield the streams of one session; the session is ended at the server when it is left."""
    async with (
        client_of(name, headers=headers, allow_private=allow_private, limit_kib=limit_kib) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=limit_kib * 1_024) as streams,
    ):
        yield streams


def client_of(name: str, *, headers: Mapping[str, str], allow_private: bool, limit_kib: int) -> httpx2.AsyncClient:
    """Return the HTTP client for one session. How long an answer takes is up to whoever waits for it."""
    return httpx2.AsyncClient(
        transport=GuardedTransport(name, allow_private=allow_private, limit_kib=limit_kib),
        timeout=httpx2.Timeout(_CONNECT_S, read=None),
        follow_redirects=False,
        trust_env=False,
        headers={"User-Agent": "silicon-org", "Accept-Encoding": "identity", **headers},
    )


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Connects to the address that was judged, reads no more than the limit, and notes what became of each request."""

    def __init__(self, name: str, *, allow_private: bool, limit_kib: int) -> None:
        self._name = name
        self._allow_private = allow_private
        self._limit_kib = limit_kib
        self._transports: dict[str, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to one allowed address of its host."""
        exchange = EXCHANGE.get()
        if request.method != "POST" or exchange is None:
            return await self._send(request, Exchange())
        exchange.fault = None
        try:
            return await self._posted(request, exchange)
        except CapabilityFailed as error:
            exchange.fault = error
        except httpx2.TransportError as error:
            exchange.fault = self._lost(exchange, error)
        return _answered(request, exchange.fault.message)

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in self._transports.values():
            await transport.aclose()

    async def _posted(self, request: httpx2.Request, exchange: Exchange) -> httpx2.Response:
        response = await self._send(request, exchange)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise self._packed()
        media_type = response.headers.get("content-type", "").lower()
        if response.is_success and media_type.startswith("text/event-stream"):
            response.stream = _Bounded(response, self._limit_kib, self._too_much(), exchange)
            return response
        body = await self._body(response)
        _judge(self._name, request, response, body, exchange)
        return httpx2.Response(response.status_code, headers=response.headers, content=body)

    async def _send(self, request: httpx2.Request, exchange: Exchange) -> httpx2.Response:
        host, scheme = request.url.host, request.url.scheme
        port = request.url.port or (443 if scheme == "https" else 80)
        address = await allowed_address(self._name, host, port, allow_private=self._allow_private)
        extensions = {**request.extensions, "sni_hostname": host, "trace": _trace(exchange)}
        if request.method == "DELETE":  # a courtesy that nobody waits long for
            extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), _CONNECT_S)
        pinned = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),  # the Host header was set from the name before
            headers=request.headers,
            stream=request.stream,
            extensions=extensions,
        )
        response = await self._transport(scheme).handle_async_request(pinned)
        if session := response.headers.get(_SESSION):
            register([session])
        return response

    async def _body(self, response: httpx2.Response) -> bytes:
        received = bytearray()
        try:
            async for chunk in response.aiter_raw():
                received += chunk
                if len(received) > self._limit_kib * 1_024:
                    raise self._too_much()
        finally:
            await response.aclose()
        return bytes(received)

    def _too_much(self) -> BusinessRefusal:
        return BusinessRefusal(
            f"The MCP server of connection {self._name} answered with more than {self._limit_kib} KiB. Ask it for "
            "less, or raise the setting mcp.result_kib.",
            connection=self._name, limit_kib=self._limit_kib,
        )  # fmt: skip

    def _packed(self) -> BusinessRefusal:
        return BusinessRefusal(
            f"The MCP server of connection {self._name} compressed its answer although it was asked not to.",
            connection=self._name,
        )  # fmt: skip

    def _lost(self, exchange: Exchange, error: httpx2.TransportError) -> NetworkFault:
        why = str(error) or type(error).__name__
        if exchange.began:
            what = f"the request was sent and no whole answer came back ({why})."
        else:
            what = f"no connection ({why}). Nothing was sent."
        return NetworkFault(f"The MCP server of connection {self._name}: {what}", connection=self._name)

    def _transport(self, scheme: str) -> httpx2.AsyncHTTPTransport:
        if scheme not in self._transports:
            self._transports[scheme] = httpx2.AsyncHTTPTransport(verify=scheme != "http")
        return self._transports[scheme]


class _Bounded(httpx2.AsyncByteStream):
    """A stream of events for one request: it ends with an error once it is longer than an answer may be."""

    def __init__(
        self, response: httpx2.Response, limit_kib: int, too_much: CapabilityFailed, exchange: Exchange
    ) -> None:
        self._inner = response.stream
        self._left = limit_kib * 1_024
        self._too_much = too_much
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._inner, httpx2.AsyncByteStream)
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                self._exchange.fault = self._too_much
                raise httpx2.ReadError(self._too_much.message)
            yield chunk

    async def aclose(self) -> None:
        """Close the connection beneath."""
        assert isinstance(self._inner, httpx2.AsyncByteStream)
        await self._inner.aclose()


def _trace(exchange: Exchange) -> object:
    async def note(name: str, info: object) -> None:
        if name.endswith("send_request_headers.started"):
            exchange.began = True

    return note


def _judge(name: str, request: httpx2.Request, response: httpx2.Response, body: bytes, exchange: Exchange) -> None:
    """Note what a status says that the SDK does not hand on."""
    status = response.status_code
    known = _SESSION in request.headers
    if known and (status == 404 or (status == 400 and b"session" in body.lower())):  # some servers answer 400
        exchange.expired = True
    elif response.is_redirect:
        exchange.fault = PermissionRefused(
            f"The MCP server of connection {name} sent the request elsewhere ({status}); only the declared address is "
            "called. If it moved, change `url` in connections.yaml.",
            connection=name, status=status,
        )  # fmt: skip
    elif status >= 400 and not _is_rpc_error(body):
        call = f"The MCP server of connection {name}"
        exchange.fault = fault_of(call, status, response.headers.get("Retry-After"), body)
    elif response.is_success and not _answers(request, body):
        raise CapabilityFailed(
            f"The MCP server of connection {name} answered with what is no answer to the request.", connection=name
        )


def _answers(request: httpx2.Request, body: bytes) -> bool:
    """Whether the body can be the answer, by the request's id; the SDK would wait for ever for one that is not."""
    number = json.loads(request.content).get("id")
    return number is None or re.search(rb'"id"\s*:\s*' + re.escape(json.dumps(number).encode()), body) is not None


def _is_rpc_error(body: bytes) -> bool:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and isinstance(told.get("error"), dict) and "code" in told["error"]


def _answered(request: httpx2.Request, message: str) -> httpx2.Response:
    """Return what makes the SDK fail this one request; nobody reads it, the exchange holds the error."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": _NO_ANSWER, "message": message}}
    return httpx2.Response(502, json=error, request=request)
