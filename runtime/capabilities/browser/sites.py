"""Where the browser may go: the pages that the organisation's connections declare, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runtime.capabilities.connections import AnyConnection, HttpConnection
from runtime.capabilities.listed_hosts import PORTS, ListedHost, covering, host_and_port, named, shown, web_address
from runtime.errors import PermissionRefused

if TYPE_CHECKING:
    from runtime.capabilities.http import HttpService

_NO_PAGE = (
    "the address of a page. Write it whole, as in https://example.org/rates, or http://CONNECTION/… for a local "
    "service; files, scripts and passwords in an address are refused."
)


@dataclass(frozen=True, slots=True)
class Site(ListedHost):
    """One host or family of hosts."""

    allow_private: bool = False
    service: HttpService | None = None
    """The local service whose pages stand under this name; nothing else resolves it."""


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
                found.append(Site(name, *host_and_port(other), private))
        return cls(found)

    def find(self, host: str, port: int) -> Site | None:
        """Return the site of a host and port."""
        return covering(self._sites, host, port)

    def require(self, url: str) -> None:
        """Return when the browser may be sent to that address.

        Raises:
            InvalidArguments: it is no address of a web page.
            PermissionRefused: no connection declares its host.
        """
        parts = web_address(url, otherwise=_NO_PAGE)
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        if self.find(host, port) is None:
            raise self.refusal(host, port)

    def refusal(self, host: str, port: int) -> PermissionRefused:
        """Return the error of a host that no connection declares."""
        return PermissionRefused(
            f"The browser may not go to {shown(host, port)}: no connection declares its pages. There are: {self}. "
            "To allow it, give the connection of that host `pages: {}` in connections.yaml.",
            host=host, port=port, happened="no",
        )  # fmt: skip

    def __str__(self) -> str:
        return named(self._sites)
