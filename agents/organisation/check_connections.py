"""Connections: the files they name exist, and what they change can be looked up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from contracts import Money
from runtime.capabilities.connections import (
    AnyConnection,
    BridgeConnection,
    DuckdbConnection,
    HostsConnection,
    HttpConnection,
    Operation,
    SqliteConnection,
)
from runtime.capabilities.connections_mcp import McpConnection
from runtime.capabilities.openapi.operation import DocumentedOperation
from runtime.capabilities.specs import bridge_specs, mcp_specs, operation_spec, sql_spec
from runtime.capabilities.web.specs import GET, web_specs


def connection_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with the connections."""
    for name, read in draft.connections.items():
        yield from _price_faults(draft, name, read)
        match read.value:
            case DuckdbConnection() | SqliteConnection() as connection:
                yield from _data_faults(draft, name, read, connection)
            case HttpConnection() as connection:
                yield from _service_faults(draft, name, read, connection)
            case McpConnection(args=args):
                yield from _script_faults(draft, name, read, args, "args")


def _price_faults(draft: Draft, name: str, read: Read[AnyConnection]) -> Iterator[Fault]:
    """Yield calls of the connection that the organisation's budget of money lets through never."""
    allowed = draft.org.value.budget.money if draft.org else None
    if allowed is None:
        return
    for place, call, costs in _costs(name, read.value):
        if costs is None:
            yield read.fault(
                place, f"`budget` in org.yaml limits money, and nobody says what `{call}` costs: it is never called.",
                f"Give it a `price`, `price: 0 {allowed.currency}` where it costs nothing.",
            )  # fmt: skip
        for money in costs or ():
            if money.currency != allowed.currency:
                yield read.fault(
                    place, f"`{call}` costs {money}, and `budget` in org.yaml is {allowed}: they cannot be compared.",
                    f"Give the price in {allowed.currency}.",
                )  # fmt: skip


def _costs(name: str, connection: AnyConnection) -> Iterator[tuple[tuple[str, ...], str, tuple[Money, ...] | None]]:
    if isinstance(connection, BridgeConnection):
        for spec in bridge_specs(name, connection):
            yield (name, "operations", spec.name.partition(".")[2]), spec.name, spec.costs
        return
    if isinstance(connection, McpConnection):
        for spec in mcp_specs(name, connection):
            yield (name, "tools", spec.name.partition(".")[2]), spec.name, spec.costs
        return
    if isinstance(connection, HostsConnection):
        yield (name,), GET.name, web_specs([connection])[0].costs
        return
    if not isinstance(connection, HttpConnection):
        yield (name,), f"{name}.query", sql_spec(name, connection).costs
        return
    for operation in connection.operations:
        costs = operation_spec(name, connection, operation).costs
        yield (name, "operations", operation), f"{name}.{operation}", costs


def _data_faults(
    draft: Draft,
    name: str,
    read: Read[AnyConnection],
    connection: DuckdbConnection | SqliteConnection,
) -> Iterator[Fault]:
    if "${" not in connection.file and not (draft.folder / connection.file).exists():
        made = f"`{connection.made_by}` makes it." if connection.made_by else "Put it there, or correct its name."
        yield read.fault((name, "file"), f"The data file {connection.file} is missing.", made)
    for file in connection.known if isinstance(connection, DuckdbConnection) else ():
        if file not in draft.files.names():
            yield read.fault((name, "known"), f"There is no file {file} in the organisation's folder.")


def _service_faults(draft: Draft, name: str, read: Read[AnyConnection], connection: HttpConnection) -> Iterator[Fault]:
    command = connection.service.command[1:] if connection.service else ()
    yield from _script_faults(draft, name, read, command, "service", "command")
    for operation, declared in connection.operations.items():
        if declared.does.needs_gate and not _can_be_told(declared):
            yield read.fault(
                (name, "operations", operation),
                f"After a crash nobody could tell whether `{name}.{operation}` happened.",
                "Name with `lookup` the path that tells it for a {key}, or take a parameter `idempotency_key`.",
            )


def _script_faults(
    draft: Draft, name: str, read: Read[AnyConnection], words: tuple[str, ...], *place: str
) -> Iterator[Fault]:
    for part in words:
        if PurePosixPath(part).suffix == ".py" and not (draft.folder / part).is_file():
            yield read.fault((name, *place), f"There is no file {part} in the organisation's folder.")


def _can_be_told(operation: Operation) -> bool:
    if isinstance(operation, DocumentedOperation) and operation.takes_key:
        return True
    return operation.lookup is not None or any("idempotency" in name for name in operation.parameters)
