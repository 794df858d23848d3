"""What `silicon doctor ORG` says of each connection: whether its file, its secrets and its address are usable here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from agents.organisation import Organisation
from console.views_system import Examined, Health
from runtime.capabilities.connection_parts import Secret
from runtime.capabilities.connections import (
    BridgeConnection,
    DuckdbConnection,
    HostsConnection,
    HttpConnection,
    SqliteConnection,
)
from runtime.capabilities.connections_mcp import McpConnection
from runtime.capabilities.http_guard import is_public
from runtime.capabilities.secrets import Secrets
from runtime.errors import PermissionRefused


def connections_of(organisation: Organisation, secrets: Secrets | None = None) -> Iterator[Examined]:
    """Yield what is found of every connection, without asking any service; of MCP servers only what is wrong."""
    for name, connection in organisation.connections.items():
        match connection:
            case DuckdbConnection(file=file, made_by=made_by) | SqliteConnection(file=file, made_by=made_by):
                there = (organisation.folder / file).is_file()
                mend = "" if there else f"Make it with `{made_by}`." if made_by else "Put the file there."
                health = Health.GOOD if there else Health.BROKEN
                yield Examined(name, health, file if there else f"{file} is missing", mend)
            case HttpConnection():
                yield from _service(name, connection, secrets or Secrets())
            case McpConnection():
                yield from _refused(name, connection.url, connection, secrets or Secrets())
                yield from _secrets(name, connection.env, "the variable", secrets or Secrets())
            case HostsConnection(hosts=hosts):
                broken = [fault for host in hosts for fault in _address(name, f"//{host}", connection)]
                broken += _secrets(name, connection.headers, "the header", secrets or Secrets())
                yield from broken or [Examined(name, Health.GOOD, f"http.get and http.send reach {', '.join(hosts)}")]
            case BridgeConnection():
                yield Examined(name, Health.NOTE, "carried out by bridges; `silicon cluster nodes` lists them")
            case _:
                yield Examined(name, Health.NOTE, "a database server; asked when it is needed")


def _service(name: str, connection: HttpConnection, secrets: Secrets) -> Iterator[Examined]:
    broken = list(_refused(name, connection.base, connection, secrets))
    yield from broken
    if not broken:
        yield Examined(name, Health.GOOD, connection.base or "local service, started when it is needed")


def _refused(
    name: str, address: str | None, connection: HttpConnection | McpConnection, secrets: Secrets
) -> Iterator[Examined]:
    """Yield what stands against any call of a service or server at an address."""
    yield from _address(name, address or "", connection)
    yield from _secrets(name, connection.headers, "the header", secrets)


def _address(
    name: str, address: str, connection: HttpConnection | HostsConnection | McpConnection
) -> Iterator[Examined]:
    host = urlsplit(address).hostname or ""
    if connection.allow_private or not _is_private(host):
        return
    what = f"{address.removeprefix('//')} is inside a private network or this machine; every call is refused"
    yield Examined(name, Health.BROKEN, what, "Say `allow_private: true` for this connection if that is meant.")


def _is_private(host: str) -> bool:
    """Whether an address says by itself that it is no public one; names are looked up when they are called."""
    try:
        ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return not is_public(host)


def _secrets(name: str, given: Mapping[str, str | Secret], what: str, secrets: Secrets) -> Iterator[Examined]:
    wanted = {value.secret: key for key, value in given.items() if isinstance(value, Secret)}
    for secret, key in wanted.items():
        try:
            secrets.get(secret)
        except PermissionRefused as error:
            _, mend = error.message.split(". ", 1)
            yield Examined(name, Health.BROKEN, f"the secret {secret} for {what} {key} is not set", mend)
