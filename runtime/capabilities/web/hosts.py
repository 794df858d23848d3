"""Which hosts `http.get` and `http.send` may reach: those that the organisation lists, and how one gets in there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from runtime.capabilities.connection_parts import Secret
from runtime.capabilities.connections import AnyConnection, HostsConnection
from runtime.errors import InvalidArguments, PermissionRefused

PORTS = {"http": 80, "https": 443}
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Listed:
    """One host, or family of hosts, of a list."""

    connection: str
    host: str
    """A name; `*.example.org` stands for every name below it."""
    port: int | None
    """None: those of http and https."""
    declared: HostsConnection

    def covers(self, host: str, port: int) -> bool:
        """Whether that host and port are meant."""
        fits = host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host
        return fits and (port in PORTS.values() if self.port is None else port == self.port)


class Hosts:
    """Every list of hosts of one organisation."""

    def __init__(self, connections: Mapping[str, AnyConnection]) -> None:
        self._listed = [
            _listed(name, each, connection)
            for name, connection in connections.items()
            if isinstance(connection, HostsConnection)
            for each in connection.hosts
        ]

    def __bool__(self) -> bool:
        return bool(self._listed)

    def require(self, url: str) -> Listed:
        """Return the entry under which an address may be called; a name of its own comes before a family.

        Raises:
            InvalidArguments: it is no address of the web.
            PermissionRefused: nobody lists its host, or secrets would be sent in the clear.
        """
        parts = _parts(url)
        host, port = (parts.hostname or "").lower(), parts.port or PORTS[parts.scheme]
        fitting = [each for each in self._listed if each.covers(host, port)]
        if not fitting:
            raise self._refusal(host, port)
        found = min(fitting, key=lambda each: (each.host.startswith("*."), -len(each.host)))
        if parts.scheme == "http" and _has_secrets(found.declared) and not found.declared.allow_private:
            raise PermissionRefused(
                f"{host} is called with secrets of the connection {found.connection}, which are never sent without "
                "TLS. Write the address with https.",
                host=host, connection=found.connection, happened="no",
            )  # fmt: skip
        return found

    def _refusal(self, host: str, port: int) -> PermissionRefused:
        shown = host if port in PORTS.values() else f"{host}:{port}"
        names = ", ".join(sorted({_shown(each) for each in self._listed})) or "none"
        return PermissionRefused(
            f"{shown} may not be called: no connection of kind hosts lists it. Listed are: {names}. Who answers for "
            "this organisation can add it in connections.yaml.",
            host=host, port=port, happened="no",
        )  # fmt: skip


def _listed(name: str, text: str, connection: HostsConnection) -> Listed:
    host, _, port = text.partition(":")
    return Listed(name, host, int(port) if port else None, connection)


def _shown(each: Listed) -> str:
    return each.host if each.port is None else f"{each.host}:{each.port}"


def _has_secrets(connection: HostsConnection) -> bool:
    return any(isinstance(value, Secret) for value in connection.headers.values())


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        good = parts.scheme in PORTS and bool(parts.hostname) and parts.username is None and len(url) <= _LONGEST
        good = good and all(sign.isprintable() and not sign.isspace() for sign in url) and parts.port != 0
        good = good and "\\" not in parts.netloc
    except ValueError:
        good = False
    if not good:
        raise InvalidArguments(
            f"{url[:100]!r} is not an address that can be called. Write it whole, as in https://example.org/rates; "
            "files and passwords in an address are refused.",
            url=url[:100], happened="no",
        )  # fmt: skip
    return parts
