"""Connections: the files they name exist, and what they change can be looked up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from agents.organisation.draft import Draft, Read
from agents.organisation.fault import Fault
from runtime.capabilities.connections import (
    DuckdbConnection,
    HttpConnection,
    Operation,
    SqlConnection,
    SqliteConnection,
)


def connection_faults(draft: Draft) -> Iterator[Fault]:
    """Yield what is wrong with the connections."""
    for name, read in draft.connections.items():
        match read.value:
            case DuckdbConnection() | SqliteConnection() as connection:
                yield from _data_faults(draft, name, read, connection)
            case HttpConnection() as connection:
                yield from _service_faults(draft, name, read, connection)


def _data_faults(
    draft: Draft,
    name: str,
    read: Read[SqlConnection | HttpConnection],
    connection: DuckdbConnection | SqliteConnection,
) -> Iterator[Fault]:
    if "${" not in connection.file and not (draft.folder / connection.file).exists():
        made = f"`{connection.made_by}` makes it." if connection.made_by else "Put it there, or correct its name."
        yield read.fault((name, "file"), f"The data file {connection.file} is missing.", made)
    for file in connection.known if isinstance(connection, DuckdbConnection) else ():
        if file not in draft.files.names():
            yield read.fault((name, "known"), f"There is no file {file} in the organisation's folder.")


def _service_faults(
    draft: Draft, name: str, read: Read[SqlConnection | HttpConnection], connection: HttpConnection
) -> Iterator[Fault]:
    for part in connection.service.command[1:] if connection.service else ():
        if PurePosixPath(part).suffix == ".py" and not (draft.folder / part).is_file():
            yield read.fault((name, "service", "command"), f"There is no file {part} in the organisation's folder.")
    for operation, declared in connection.operations.items():
        if declared.does.needs_gate and not _can_be_told(declared):
            yield read.fault(
                (name, "operations", operation),
                f"After a crash nobody could tell whether `{name}.{operation}` happened.",
                "Name with `lookup` the path that tells it for a {key}, or take a parameter `idempotency_key`.",
            )


def _can_be_told(operation: Operation) -> bool:
    return operation.lookup is not None or any("idempotency" in name for name in operation.parameters)
