"""Which hosts `http.get` and `http.send` may reach: those that the organisation lists, and how one gets in there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.capabilities.connection_parts import Secret
from runtime.capabilities.connections import AnyConnection, HostsConnection
from runtime.capabilities.listed_hosts import PORTS, ListedHost, covering, host_and_port, named, shown, web_address
from runtime.errors import PermissionRefused

_NO_ADDRESS = (
    "an address that can be called. Write it whole, as in https://example.org/rates; files and passwords in an "
    "address are refused."
)


@dataclass(frozen=True, slots=True)
class Listed(ListedHost):
    """One entry of a list."""

    declared: HostsConnection


class Hosts:
    """Every list of hosts of one organisation."""

    def __init__(self, connections: Mapping[str, AnyConnection]) -> None:
        self._listed = [
            Listed(name, *host_and_port(each), connection)
            for name, connection in connections.items()
            if isinstance(connection, HostsConnection)
            for each in connection.hosts
        ]

    def __bool__(self) -> bool:
        return bool(self._listed)

    def require(self, url: str) -> Listed:
        """Return the entry under which an address may be called.

        Raises:
            InvalidArguments: it is no address of the web.
            PermissionRefused: nobody lists its host, or secrets would be sent in the clear.
        """
        parts = web_address(url, otherwise=_NO_ADDRESS)
        host, port = (parts.hostname or "").lower(), parts.port or PORTS[parts.scheme]
        found = covering(self._listed, host, port)
        if found is None:
            raise self._refusal(host, port)
        if parts.scheme == "http" and _has_secrets(found.declared) and not found.declared.allow_private:
            raise PermissionRefused(
                f"{host} is called with secrets of the connection {found.connection}, which are never sent without "
                "TLS. Write the address with https.",
                host=host, connection=found.connection, happened="no",
            )  # fmt: skip
        return found

    def _refusal(self, host: str, port: int) -> PermissionRefused:
        return PermissionRefused(
            f"{shown(host, port)} may not be called: no connection of kind hosts lists it. Listed are: "
            f"{named(self._listed)}. Who answers for this organisation can add it in connections.yaml.",
            host=host, port=port, happened="no",
        )  # fmt: skip


def _has_secrets(connection: HostsConnection) -> bool:
    return any(isinstance(value, Secret) for value in connection.headers.values())
