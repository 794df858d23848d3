"""The declarations that connections make. Importing this costs little: no database, no HTTP client."""

from __future__ import annotations

from collections.abc import Mapping

from contracts import Effect, Json, Money, Parameter, Tier, ValueType
from runtime.capabilities.connections import (
    AnyConnection,
    BridgeConnection,
    DuckdbConnection,
    HostsConnection,
    HttpConnection,
    Operation,
    SqlConnection,
    SqliteConnection,
    UrlConnection,
)  # fmt: skip
from runtime.capabilities.connections_mcp import McpConnection, McpTool
from runtime.capabilities.openapi.operation import DocumentedOperation
from runtime.capabilities.placing import BRIDGED, carries
from runtime.capabilities.port import CapabilitySpec
from runtime.capabilities.web.specs import web_specs
from runtime.settings import HttpSettings, McpSettings, SqlSettings


def connection_specs(connections: Mapping[str, AnyConnection]) -> list[CapabilitySpec]:
    """Return the declarations of what the connections offer, of `http` with its prices; nothing is opened."""
    specs: list[CapabilitySpec] = []
    for name, connection in connections.items():
        if isinstance(connection, BridgeConnection):
            specs += bridge_specs(name, connection)
        elif isinstance(connection, HttpConnection):
            specs += http_specs(name, connection)
        elif isinstance(connection, McpConnection):
            specs += mcp_specs(name, connection)
        elif not isinstance(connection, HostsConnection):
            specs.append(sql_spec(name, connection))
    if any(isinstance(connection, HostsConnection) for connection in connections.values()):
        specs += web_specs(connections.values())
    return specs


def sql_spec(name: str, connection: SqlConnection, settings: SqlSettings | None = None) -> CapabilitySpec:
    """Return the declaration of the query capability of one connection."""
    timeout_s = (settings or SqlSettings()).timeout_s
    return CapabilitySpec(
        name=f"{name}.query",
        kind="sql",
        description=connection.description or f"Query the connection {name} with one SELECT.",
        parameters={
            "sql": Parameter(
                type=ValueType.STRING,
                description="One SELECT, or a .sql file of the skill's folder.",
                example="SELECT 1",
            ),
        },
        gives={"rows": "array", "columns": "array", "n": "integer"},
        effect=Effect.READ,
        tier=Tier.EXECUTION,
        timeout_s=timeout_s + 5,
        resources=("sql",),
        costs=_costs(connection.price) if isinstance(connection, UrlConnection) else (),
        open_arguments=True,
        declaration=_declaration(connection),
    )


def operation_spec(
    service: str, connection: HttpConnection, name: str, settings: HttpSettings | None = None
) -> CapabilitySpec:
    """Return the declaration of one operation; everything that decides what it does is in its hash."""
    operation = connection.operations[name]
    where = connection.base or f"local service: {' '.join(connection.service.command if connection.service else ())}"
    return CapabilitySpec(
        name=f"{service}.{name}",
        kind="service_tool",
        description=operation.description or f"{operation.method} {operation.path} of {service}.",
        parameters=operation.parameters,
        gives=operation.gives,
        effect=operation.does,
        tier=Tier.EXECUTION,
        policy=operation.policy,
        timeout_s=(settings or HttpSettings()).timeout_s + 5,
        can_look_up=operation.lookup is not None,
        every_call=operation.every_call,
        plausible=operation.plausible,
        costs=_operation_costs(connection, operation),
        schema=operation.takes if isinstance(operation, DocumentedOperation) else None,
        declaration={
            "address": where, "method": operation.method, "path": operation.path, "lookup": operation.lookup,
            **({"document_sha256": operation.sha256} if isinstance(operation, DocumentedOperation) else {}),
        },
    )  # fmt: skip


def _operation_costs(connection: HttpConnection, operation: Operation) -> tuple[Money, ...] | None:
    """Return what one call costs; what is started here costs nothing unless it says so."""
    price = operation.price or connection.price
    return () if price is None and connection.service is not None else _costs(price)


def _costs(price: Money | None) -> tuple[Money, ...] | None:
    """Return a price as costs of one call: none for a price of nothing, None where nobody knows."""
    if price is None:
        return None
    return (price,) if price.amount else ()


def http_specs(name: str, connection: HttpConnection, settings: HttpSettings | None = None) -> list[CapabilitySpec]:
    """Return the declarations of every operation of one service."""
    return [operation_spec(name, connection, operation, settings) for operation in connection.operations]


def bridge_specs(name: str, connection: BridgeConnection) -> list[CapabilitySpec]:
    """Return the declarations of what bridges carry out for one connection."""
    return [
        CapabilitySpec(
            name=f"{name}.{operation}",
            kind=BRIDGED,
            description=declared.description or f"{operation} of {connection.description or name}.",
            parameters=declared.parameters,
            gives=declared.gives,
            effect=declared.effect,
            tier=Tier.EXECUTION,
            policy=declared.policy,
            labels=(*([connection.label] if connection.label else ()), carries(f"{name}.{operation}")),
            timeout_s=declared.limit_s,
            can_look_up=declared.effect.needs_gate,  # the gateway may have its receipt, whatever the bridge can tell
            every_call=declared.every_call,
            plausible=declared.plausible,
            costs=_costs(declared.price or connection.price),
            declaration={"label": connection.label, "lookup": declared.lookup},
        )
        for operation, declared in connection.operations.items()
    ]


def mcp_specs(name: str, connection: McpConnection, settings: McpSettings | None = None) -> list[CapabilitySpec]:
    """Return the declarations of the tools of one MCP server; what it says of them itself is not among it."""
    return [_tool_spec(name, connection, tool, settings or McpSettings()) for tool in connection.tools]


def _tool_spec(server: str, connection: McpConnection, name: str, settings: McpSettings) -> CapabilitySpec:
    tool: McpTool = connection.tools[name]
    return CapabilitySpec(
        name=f"{server}.{name}",
        kind="mcp_tool",
        description=tool.description or f"{name} of {connection.description or server}.",
        parameters=tool.arguments,
        gives=tool.gives or {"text": "string"},
        effect=tool.effect,
        tier=Tier.EXECUTION,
        policy=tool.policy,
        timeout_s=(tool.limit_s or settings.timeout_s) + settings.start_s + 5,
        every_call=tool.every_call,
        plausible=tool.plausible,
        costs=_costs(tool.price or connection.price),
        schema=tool.arguments_schema,
        declaration={
            "server": connection.where, "tool": tool.tool or name, "sha256": tool.sha256,
            **({"takes": tool.takes} if tool.takes is not None else {}),
        },
    )  # fmt: skip


def _declaration(connection: SqlConnection) -> dict[str, Json]:
    match connection:
        case DuckdbConnection(file=file, known=known):
            return {"kind": "duckdb", "file": file, "known": list(known)}
        case SqliteConnection(file=file):
            return {"kind": "sqlite", "file": file}
        case UrlConnection(url=url):
            from sqlalchemy import make_url

            return {"kind": "url", "url": make_url(url).render_as_string(hide_password=True)}
