"""Which addresses may be called: each name is resolved once, judged, and the judged address is the one connected to."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv6Address, ip_address
from typing import Any

from runtime.errors import NetworkFault, PermissionRefused


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
