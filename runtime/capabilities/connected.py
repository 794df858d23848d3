"""The capabilities that an organisation's connections declare, ready to be called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runtime.capabilities.bridged import BridgeCalls, bridged_capabilities
from runtime.capabilities.browser.capability import Browsers
from runtime.capabilities.browser.sites import Sites
from runtime.capabilities.connections import AnyConnection, BridgeConnection, HostsConnection, HttpConnection
from runtime.capabilities.connections_mcp import McpConnection
from runtime.capabilities.http import HttpService, http_capabilities
from runtime.capabilities.local_service import LocalService
from runtime.capabilities.mcp.server import McpServer
from runtime.capabilities.mcp.tool import mcp_capabilities
from runtime.capabilities.port import Capability
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.sql import SqlQuery
from runtime.capabilities.web.capability import Web
from runtime.settings import BrowserSettings, HttpSettings, McpSettings, SqlSettings


@dataclass(slots=True)
class Connected:
    """The capabilities of an organisation's connections, and what has to be closed at the end."""

    capabilities: list[Capability] = field(default_factory=list)
    sql: dict[str, SqlQuery] = field(default_factory=dict)
    """By connection; metrics and sensors query through these."""
    services: dict[str, HttpService] = field(default_factory=dict)
    """By connection."""
    servers: dict[str, McpServer] = field(default_factory=dict)
    """MCP servers, by connection."""
    web: Web = field(default_factory=lambda: Web({}, HttpSettings(), Secrets()))
    """What reaches the hosts of its lists."""
    browsers: Browsers = field(default_factory=lambda: Browsers(Sites([]), BrowserSettings()))
    """What opens the pages of connections; nothing runs before a step does."""

    async def close(self) -> None:
        """Close databases, HTTP connections, MCP servers and browsers; a local service goes on."""
        await self.browsers.close()
        for query in self.sql.values():
            query.close()
        for service in self.services.values():
            await service.close()
        for server in self.servers.values():
            await server.close()
        await self.web.close()


def connect(
    connections: Mapping[str, AnyConnection],
    *,
    folder: Path,
    home: Path,
    time_zone: str,
    sql: SqlSettings,
    http: HttpSettings,
    mcp: McpSettings | None = None,
    browser: BrowserSettings | None = None,
    browser_told: Callable[[str | None], None] = lambda _: None,
    secrets: Secrets | None = None,
    views: Mapping[str, str] | None = None,
    calls: BridgeCalls | None = None,
) -> Connected:
    """Return the capabilities of the connections of one organisation; nothing is opened before it is used.

    Args:
        folder: the organisation's folder; paths in connections are relative to it.
        home: where local services keep their state.
        time_zone: IANA name; the wall clock of `known_at` in queries.
        browser_told: hears of each start of a browser: why it failed, None when it worked.
        views: texts of the files that connections name under `known`, as they were pinned; else they are read.
        calls: hands calls to bridges; without it those fail.
    """
    connected = Connected()
    for name, connection in connections.items():
        if isinstance(connection, BridgeConnection):
            connected.capabilities += bridged_capabilities(name, connection, calls)
            continue
        if isinstance(connection, McpConnection):
            server, tools = mcp_capabilities(
                name, connection, folder=folder, settings=mcp or McpSettings(), secrets=secrets or Secrets()
            )
            connected.servers[name] = server
            connected.capabilities += tools
            continue
        if isinstance(connection, HostsConnection):
            continue
        if not isinstance(connection, HttpConnection):
            query = SqlQuery(name, connection, folder=folder, time_zone=time_zone, settings=sql, views=views)
            connected.sql[name] = query
            connected.capabilities.append(query)
            continue
        local = connection.service and LocalService(name, connection.service, home=home, folder=folder)
        service, operations = http_capabilities(
            name, connection, settings=http, secrets=secrets or Secrets(), local=local or None
        )
        connected.services[name] = service
        connected.capabilities += operations
    connected.web = Web(connections, http, secrets or Secrets())
    connected.browsers = Browsers(
        Sites.of(connections, connected.services), browser or BrowserSettings(), told=browser_told
    )
    return connected
