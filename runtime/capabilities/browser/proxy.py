"""The only way out of a browser's sandbox: a proxy on the trusted side that lets through what connections declare."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import os
import secrets
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import h11
import httpx

from runtime.capabilities.browser.sites import Site, Sites
from runtime.capabilities.http_guard import allowed_address
from runtime.capabilities.http_pinned import PinnedTransport
from runtime.capabilities.listed_hosts import PORTS
from runtime.errors import NetworkFault, PermissionRefused, SiliconError

LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})
_CHUNK = 65_536
_LARGEST_HEAD = 65_536
_LARGEST_BODY = 16 * 1_024 * 1_024
_LISTED = 20
_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
     "transfer-encoding", "upgrade"}
)  # fmt: skip
"""Headers that belong to one connection and are not passed on (RFC 9110, 7.6.1)."""


class FilteringProxy:
    """The proxy of one browser.

    A host that no connection declares is refused, and so is a private address unless its connection allows it: the
    address that was judged is the one connected to. TLS goes through as it is. To a local service the proxy alone has
    the token, and nothing but looks pass as long as nobody acts on the page.
    """

    def __init__(self, sites: Sites, *, transfer_mib: int) -> None:
        self._sites = sites
        self._most = transfer_mib * 1_024 * 1_024
        self.user, self.password = "silicon", secrets.token_urlsafe(24)
        self._proof = b"Basic " + base64.b64encode(f"{self.user}:{self.password}".encode())
        self.socket = f".browser-{secrets.token_hex(8)}"
        """File in the slot's folder through which the browser reaches the proxy."""
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._passed = 0
        self.acting = False
        """Whether somebody acts on the page now, so that it may change something."""
        self.refusals: list[SiliconError] = []
        """Why something was not let through, since `begin`."""

    def begin(self, *, acting: bool) -> None:
        """Count anew: an action on the page begins."""
        self._passed, self.acting, self.refusals = 0, acting, []

    @property
    def overrun(self) -> bool:
        """Whether more was sent to the page than one action may bring."""
        return self._passed > self._most

    async def listen(self, folder: Path) -> None:
        """Listen in the slot's folder; only who may enter that can come in, and only with the password."""
        self._server = await asyncio.start_unix_server(self._take, sock=_listening(folder, self.socket), limit=_CHUNK)

    async def close(self) -> None:
        """End every connection."""
        if self._server is not None:
            self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        for client in self._clients.values():
            await client.aclose()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            await self._serve(reader, writer)
        except asyncio.CancelledError:  # the proxy is closed, and asyncio would report it
            pass
        except (OSError, EOFError, ValueError, h11.ProtocolError, httpx.HTTPError):
            pass  # one side went away or speaks no HTTP, which the page notices by itself
        finally:
            self._serving.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        http = h11.Connection(h11.SERVER, max_incomplete_event_size=_LARGEST_HEAD)
        request = await _next(http, reader)
        if not isinstance(request, h11.Request):
            return
        if not any(hmac.compare_digest(value, self._proof) for name, value in request.headers
                   if name == b"proxy-authorization"):  # fmt: skip
            await _refuse(http, writer, 407, "This proxy is the browser's alone.")
            return
        try:
            if request.method == b"CONNECT":
                await self._tunnel(request, http, reader, writer)
            else:
                await self._forward(request, http, reader, writer)
        except SiliconError as error:
            if len(self.refusals) < _LISTED:
                self.refusals.append(error)
            await _refuse(http, writer, 403 if isinstance(error, PermissionRefused) else 502, error.message)

    async def _tunnel(
        self, request: h11.Request, http: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        host, _, port = request.target.decode("ascii", "replace").rpartition(":")
        site = self._site(host.strip("[]"), int(port) if port.isdigit() else 0)
        if site.service is not None:
            raise PermissionRefused(
                f"The pages of {site.connection} are opened as http://{site.connection}/.", host=host
            )
        there = await allowed_address(site.connection, host, int(port), allow_private=site.allow_private)
        try:
            inwards, outwards = await asyncio.open_connection(there, int(port))
        except OSError as error:
            raise NetworkFault(f"{host} cannot be reached: {error.strerror or error}.", host=host) from error
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            ways = [
                asyncio.create_task(self._pump(reader, outwards, http.trailing_data[0])),
                asyncio.create_task(self._pump(inwards, writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        finally:
            outwards.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes = b"") -> None:
        writer.write(first)
        while data := await reader.read(_CHUNK):
            self._count(data)
            writer.write(data)
            await writer.drain()

    async def _forward(
        self, request: h11.Request, http: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        target = urlsplit(request.target.decode("ascii", "replace"))
        site = self._site(target.hostname or "", target.port or PORTS["http"])
        method = request.method.decode("ascii")
        if method not in LOOKING and not self.acting:
            raise PermissionRefused(
                f"The page wanted to send {method} {target.path} while it was only looked at.",
                host=target.hostname or "", method=method,
            )  # fmt: skip
        headers = [(name, value) for name, value in request.headers if name.decode("ascii") not in _HOP]
        base, path = f"http://{target.netloc}", f"{target.path or '/'}{f'?{target.query}' if target.query else ''}"
        if site.service is not None:
            base, own = await site.service.entrance()
            mine = {b"host", *(name.lower().encode() for name in own)}
            headers = [(name, value) for name, value in headers if name not in mine]
            headers += [(name.encode(), value.encode()) for name, value in own.items()]
        body = await _body(http, reader)
        client = self._client(site)
        sent = client.build_request(method, base + path, headers=headers, content=body or None)
        try:
            answer = await client.send(sent, stream=True)
        except httpx.HTTPError as error:
            raise NetworkFault(f"{target.hostname} gave no answer: {error}.", host=target.hostname or "") from error
        try:
            await self._answer(http, writer, answer, instead=(base, f"http://{site.host}"))
        finally:
            await answer.aclose()

    async def _answer(
        self, http: h11.Connection, writer: asyncio.StreamWriter, answer: httpx.Response, *, instead: tuple[str, str]
    ) -> None:
        headers = [(name, value) for name, value in answer.headers.raw if name.decode("ascii").lower() not in _HOP]
        headers = [
            (name, value.replace(instead[0].encode(), instead[1].encode(), 1) if name.lower() == b"location" else value)
            for name, value in headers
        ]
        head = h11.Response(status_code=answer.status_code, headers=[*headers, (b"Connection", b"close")])
        writer.write(http.send(head) or b"")
        async for data in answer.aiter_raw(_CHUNK):
            self._count(data)
            writer.write(http.send(h11.Data(data)) or b"")
            await writer.drain()
        writer.write(http.send(h11.EndOfMessage()) or b"")
        await writer.drain()

    def _site(self, host: str, port: int) -> Site:
        site = self._sites.find(host, port)
        if site is None:
            raise self._sites.refusal(host, port)
        if self.overrun:
            raise PermissionRefused("The page brought more than it may.", host=host)
        return site

    def _count(self, data: bytes) -> None:
        self._passed += len(data)
        if self.overrun:
            raise ConnectionAbortedError

    def _client(self, site: Site) -> httpx.AsyncClient:
        private = site.allow_private or site.service is not None
        key = f"{site.connection} {private}"
        if key not in self._clients:
            self._clients[key] = httpx.AsyncClient(
                transport=PinnedTransport(site.connection, allow_private=private),
                follow_redirects=False, trust_env=False, timeout=httpx.Timeout(30.0),
            )  # fmt: skip
            self._clients[key].headers.clear()
        return self._clients[key]


def _listening(folder: Path, name: str) -> socket.socket:
    """Return a socket that listens in a folder whose path may be longer than a socket's name can be."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        place = Path(f"/proc/self/fd/{at}/{name}")
        listening.bind(str(place))
        place.chmod(0o666)  # the slot has a user of its own
    finally:
        os.close(at)
    return listening


async def _next(http: h11.Connection, reader: asyncio.StreamReader) -> object:
    while (event := http.next_event()) is h11.NEED_DATA:
        http.receive_data(await reader.read(_CHUNK))
    return event


async def _body(http: h11.Connection, reader: asyncio.StreamReader) -> bytes:
    data = bytearray()
    async for part in _parts(http, reader):
        data += part
        if len(data) > _LARGEST_BODY:
            raise PermissionRefused(f"The page wanted to send more than {_LARGEST_BODY} bytes at once.")
    return bytes(data)


async def _parts(http: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while isinstance(event := await _next(http, reader), h11.Data):
        yield bytes(event.data)


async def _refuse(http: h11.Connection, writer: asyncio.StreamWriter, status: int, why: str) -> None:
    if http.our_state is not h11.SEND_RESPONSE:
        return
    data = why.encode()
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(data))),
        ("Connection", "close"),
    ]
    if status == 407:
        headers.append(("Proxy-Authenticate", 'Basic realm="silicon"'))
    writer.write(http.send(h11.Response(status_code=status, headers=headers)) or b"")
    writer.write((http.send(h11.Data(data)) or b"") + (http.send(h11.EndOfMessage()) or b""))
    with contextlib.suppress(OSError):
        await writer.drain()
