"""Hosts as connections list them, and addresses of the web: the same rules for all who go there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

from runtime.errors import InvalidArguments

PORTS = {"http": 80, "https": 443}
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class ListedHost:
    """One host, or family of hosts, that a connection lists."""

    connection: str
    host: str
    """A name; `*.example.org` stands for every name below it."""
    port: int | None
    """None: those of http and https."""

    def covers(self, host: str, port: int) -> bool:
        """Whether that host and port are meant."""
        fits = host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host
        return fits and (port in PORTS.values() if self.port is None else port == self.port)

    def __str__(self) -> str:
        return shown(self.host, self.port)


Host = TypeVar("Host", bound=ListedHost)


def host_and_port(text: str) -> tuple[str, int | None]:
    """Return what an entry of a list names, as in `*.example.org` or `example.org:8443`."""
    host, _, port = text.partition(":")
    return host, int(port) if port else None


def covering(listed: Iterable[Host], host: str, port: int) -> Host | None:
    """Return what covers a host; a name of its own comes before a family, and a small family before a large one."""
    fitting = [each for each in listed if each.covers(host.lower(), port)]
    return min(fitting, key=lambda each: (each.host.startswith("*."), -len(each.host)), default=None)


def shown(host: str, port: int | None) -> str:
    """Return a host in the words of a message."""
    return host if port in (None, *PORTS.values()) else f"{host}:{port}"


def named(listed: Iterable[ListedHost]) -> str:
    """Return all of them in the words of a message."""
    return ", ".join(sorted({str(each) for each in listed})) or "none"


def web_address(url: str, *, otherwise: str) -> SplitResult:
    r"""Return the parts of a whole address of the web.

    A `\` ends the name of the host for a browser and not for Python, so that each would go to another; it is refused.

    Args:
        otherwise: what an address is that is none, and how to mend it.

    Raises:
        InvalidArguments: it is none.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in PORTS and bool(parts.hostname) and parts.username is None and len(url) <= _LONGEST
        good = good and all(sign.isprintable() and not sign.isspace() for sign in url) and parts.port != 0
        good = good and "\\" not in parts.netloc
    except ValueError:
        good = False
    if not good:
        raise InvalidArguments(f"{url[:100]!r} is not {otherwise}", url=url[:100], happened="no")
    return parts
