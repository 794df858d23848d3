"""Which addresses may be called: each name is resolved once, judged, and the judged address is the one connected to."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv6Address, ip_address
from typing import Any

import httpx

from runtime.errors import NetworkFault, PermissionRefused


class PinnedTransport(httpx.AsyncBaseTransport):
    """Connects to the address that was judged, so that a name cannot point elsewhere a moment later."""

    def __init__(self, connection: str, *, allow_private: bool) -> None:
        self._connection = connection
        self._allow_private = allow_private
        self._transports: dict[str, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request to one allowed address of its host."""
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        address = await allowed_address(self._connection, host, port, allow_private=self._allow_private)
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=address)  # the Host header was set from the name before
        return await self._transport(request.url.scheme).handle_async_request(request)

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in self._transports.values():
            await transport.aclose()

    def _transport(self, scheme: str) -> httpx.AsyncHTTPTransport:
        """Return what sends requests; certificates, which take 50 ms to read, only where TLS is spoken.

        The certificates of SSL_CERT_FILE count; proxies do not.
        """
        if scheme not in self._transports:
            self._transports[scheme] = httpx.AsyncHTTPTransport(verify=scheme != "http")
        return self._transports[scheme]


async def allowed_address(connection: str, host: str, port: int, *, allow_private: bool) -> str:
    """Return the address of a host to connect to.

    Raises:
        NetworkFault: the name cannot be resolved.
        PermissionRefused: it lies inside a private network or on this machine, and the connection does not allow that.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NetworkFault(
            f"Connection {connection}: the name {host} cannot be resolved ({error.strerror}).",
            connection=connection, host=host,
        ) from error  # fmt: skip
    addresses = [entry[4][0] for entry in found]
    allowed = [address for address in addresses if allow_private or is_public(str(address))]
    if not allowed:
        raise PermissionRefused(
            f"Connection {connection}: {host} is inside a private network or this machine "
            f"({addresses[0]}). Say `allow_private: true` for this connection if that is meant.",
            connection=connection, host=host, address=str(addresses[0]),
        )  # fmt: skip
    return str(allowed[0])


def is_public(text: str) -> bool:
    """Whether an IP address belongs to the public internet: no loopback, link-local, metadata or private one."""
    address = ip_address(text.partition("%")[0])
    inner: Any = None
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
    return address.is_global and not address.is_multicast and (inner is None or is_public(str(inner)))
