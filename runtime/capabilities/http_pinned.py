"""Connects where a guard allows it. It is made of httpx, which takes 40 ms to import; the guard itself is not."""

from __future__ import annotations

import httpx

from runtime.capabilities.http_guard import allowed_address


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
