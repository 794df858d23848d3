"""Where the browser may go: the pages that the organisation's connections declare, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from runtime.capabilities.connections import AnyConnection, HttpConnection
from runtime.errors import InvalidArguments, PermissionRefused

if TYPE_CHECKING:
    from runtime.capabilities.http import HttpService

PORTS = {"http": 80, "https": 443}
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Site:
    """One host or family of hosts."""

    connection: str
    host: str
    """A name; `*.example.org` stands for every name below it."""
    port: int | None
    """None: those of http and https."""
    allow_private: bool = False
    service: HttpService | None = None
    """The local service whose pages stand under this name; nothing else resolves it."""

    def covers(self, host: str, port: int) -> bool:
        """Whether that host and port are meant."""
        fits = host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host
        return fits and (port in PORTS.values() if self.port is None else port == self.port)

    def __str__(self) -> str:
        return self.host if self.port in (None, *PORTS.values()) else f"{self.host}:{self.port}"


class Sites:
    """Everything the browser of one organisation may reach."""

    def __init__(self, sites: list[Site]) -> None:
        self._sites = sites

    @classmethod
    def of(cls, connections: Mapping[str, AnyConnection], services: Mapping[str, HttpService]) -> Sites:
        """Return what the connections declare; `services` are those that are started here, by connection."""
        found: list[Site] = []
        for name, connection in connections.items():
            if not isinstance(connection, HttpConnection) or connection.pages is None:
                continue
            private = connection.allow_private
            if connection.base is None:
                found.append(Site(name, name, PORTS["http"], service=services[name]))
            else:
                base = urlsplit(connection.base)
                found.append(Site(name, base.hostname or "", base.port or PORTS[base.scheme], private))
            for other in connection.pages.also:
                host, _, port = other.partition(":")
                found.append(Site(name, host, int(port) if port else None, private))
        return cls(found)

    def find(self, host: str, port: int) -> Site | None:
        """Return the site of a host and port; a name of its own comes before a family."""
        fitting = [site for site in self._sites if site.covers(host.lower(), port)]
        return min(fitting, key=lambda site: site.host.startswith("*."), default=None)

    def require(self, url: str) -> None:
        """Return when the browser may be sent to that address.

        Raises:
            InvalidArguments: it is no address of a web page.
            PermissionRefused: no connection declares its host.
        """
        parts = _parts(url)
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        if self.find(host, port) is None:
            raise self.refusal(host, port)

    def refusal(self, host: str, port: int) -> PermissionRefused:
        """Return the error of a host that no connection declares."""
        shown = host if port in PORTS.values() else f"{host}:{port}"
        return PermissionRefused(
            f"The browser may not go to {shown}: no connection declares its pages. There are: {self}. To allow it, "
            "give the connection of that host `pages: {}` in connections.yaml.",
            host=host, port=port, happened="no",
        )  # fmt: skip

    def __str__(self) -> str:
        names = {str(site) for site in self._sites}
        return ", ".join(sorted(names)) or "none"


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        good = parts.scheme in PORTS and bool(parts.hostname) and parts.username is None and len(url) <= _LONGEST
        good = good and all(sign.isprintable() and not sign.isspace() for sign in url) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise InvalidArguments(
            f"{url[:100]!r} is not the address of a page. Write it whole, as in https://example.org/rates, or "
            "http://CONNECTION/… for a local service; files, scripts and passwords in an address are refused.",
            url=url[:100], happened="no",
        )  # fmt: skip
    return parts
