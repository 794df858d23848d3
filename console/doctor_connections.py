"""What `silicon doctor ORG` says of each connection: whether its file, its secrets and its address are usable here."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from agents.organisation import Organisation
from console.views import Examined, Health
from runtime.capabilities.connections import (
    BridgeConnection,
    DuckdbConnection,
    HttpConnection,
    Secret,
    SqliteConnection,
)
from runtime.capabilities.http_guard import is_public
from runtime.capabilities.secrets import Secrets
from runtime.errors import PermissionRefused


def connections_of(organisation: Organisation, secrets: Secrets | None = None) -> Iterator[Examined]:
    """Yield what is found of every connection, without asking any service."""
    for name, connection in organisation.connections.items():
        match connection:
            case DuckdbConnection(file=file, made_by=made_by) | SqliteConnection(file=file, made_by=made_by):
                there = (organisation.folder / file).is_file()
                mend = "" if there else f"Make it with `{made_by}`." if made_by else "Put the file there."
                health = Health.GOOD if there else Health.BROKEN
                yield Examined(name, health, file if there else f"{file} is missing", mend)
            case HttpConnection():
                yield from _service(name, connection, secrets or Secrets())
            case BridgeConnection():
                yield Examined(name, Health.NOTE, "carried out by bridges; `silicon cluster nodes` lists them")
            case _:
                yield Examined(name, Health.NOTE, "a database server; asked when it is needed")


def _service(name: str, connection: HttpConnection, secrets: Secrets) -> Iterator[Examined]:
    broken = [*_address(name, connection), *_secrets(name, connection, secrets)]
    yield from broken
    if not broken:
        yield Examined(name, Health.GOOD, connection.base or "local service, started when it is needed")


def _address(name: str, connection: HttpConnection) -> Iterator[Examined]:
    host = urlsplit(connection.base or "").hostname or ""
    if connection.allow_private or not _is_private(host):
        return
    what = f"{connection.base} is inside a private network or this machine; every call is refused"
    yield Examined(name, Health.BROKEN, what, "Say `allow_private: true` for this connection if that is meant.")


def _is_private(host: str) -> bool:
    """Whether an address says by itself that it is no public one; names are looked up when they are called."""
    try:
        ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return not is_public(host)


def _secrets(name: str, connection: HttpConnection, secrets: Secrets) -> Iterator[Examined]:
    wanted = {value.secret: header for header, value in connection.headers.items() if isinstance(value, Secret)}
    for secret, header in wanted.items():
        try:
            secrets.get(secret)
        except PermissionRefused as error:
            _, mend = error.message.split(". ", 1)
            yield Examined(name, Health.BROKEN, f"the secret {secret} for the header {header} is not set", mend)
