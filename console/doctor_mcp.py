"""What `silicon doctor ORG` says of each MCP server: whether it answers, and whether its tools are those declared."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from agents.organisation import Organisation
from console.views_system import Examined, Health
from contracts import Json
from runtime.canonical import to_bytes
from runtime.capabilities.connections_mcp import McpConnection
from runtime.capabilities.mcp.server import McpServer
from runtime.capabilities.secrets import Secrets
from runtime.errors import CapabilityFailed
from runtime.settings import McpSettings
from runtime.telemetry import redact

if TYPE_CHECKING:
    from runtime.capabilities.mcp.listing import ListedTool

_NO_KEY = re.compile(r"^[^a-z]+|[^a-z0-9]+")
_SHOWN = 20
"""Names of tools in one line."""


async def mcp_servers_of(
    organisation: Organisation, settings: McpSettings, secrets: Secrets | None = None, *, but: Collection[str] = ()
) -> list[Examined]:
    """Start or reach every MCP server but those, and return what is found; never raises."""
    asked = [
        _server(name, connection, organisation, settings, secrets or Secrets())
        for name, connection in organisation.connections.items()
        if isinstance(connection, McpConnection) and name not in but
    ]
    return [each for found in await asyncio.gather(*asked) for each in found]


async def _server(
    name: str, connection: McpConnection, organisation: Organisation, settings: McpSettings, secrets: Secrets
) -> list[Examined]:
    server = McpServer(name, connection, folder=organisation.folder, settings=settings, secrets=secrets)
    try:
        offered = await server.tools()
        return list(_compared(name, connection, offered))
    except CapabilityFailed as error:
        return [Examined(name, Health.BROKEN, redact(error.message))]  # it may quote what the server said
    finally:
        await server.close()


def _compared(name: str, connection: McpConnection, offered: Mapping[str, ListedTool]) -> Iterator[Examined]:
    what = f"{redact(connection.where)} answers, {len(offered)} tools, {len(connection.tools)} declared"
    offers: list[Json] = [listed.declaration() for listed in offered.values()]
    yield Examined(name, Health.GOOD, what, facts={"offered": offers})
    for key in connection.tools:
        yield from _declared(name, connection, key, offered)
    rest = sorted(offered.keys() - {tool.tool or key for key, tool in connection.tools.items()})
    if not connection.tools:
        yield from (_offered(name, offered[each]) for each in rest)
    elif rest:
        more = f" and {len(rest) - _SHOWN} more" if len(rest) > _SHOWN else ""
        what = f"it also offers {', '.join(rest[:_SHOWN])}{more}; nothing calls them"
        yield Examined(name, Health.NOTE, what)


def _declared(name: str, connection: McpConnection, key: str, offered: Mapping[str, ListedTool]) -> Iterator[Examined]:
    from runtime.capabilities.mcp.listing import differences

    tool = connection.tools[key]
    listed = offered.get(tool.tool or key)
    if listed is None:
        mend = "Correct its name with `tool`, or take it out of connections.yaml."
        yield Examined(f"{name}.{key}", Health.BROKEN, f"the server offers no tool {tool.tool or key}", mend)
        return
    found = list(differences(tool, listed))
    if found:
        mend = f"The server has it as {_as_yaml(listed)}. See what that means before you declare it so."
        yield Examined(f"{name}.{key}", Health.BROKEN, "; ".join(found), mend, facts={"offered": listed.declaration()})


def _offered(name: str, listed: ListedTool) -> Examined:
    mend = f"To have it called, put under `tools`, with the effect that it has: {_as_yaml(listed)}."
    facts: dict[str, Json] = {"offered": listed.declaration()}
    return Examined(name, Health.NOTE, f"it offers {listed.name}", mend, facts=facts)


def _as_yaml(listed: ListedTool) -> str:
    """Return a declaration in one line, with its effect left open; JSON is YAML."""
    key = _NO_KEY.sub("_", listed.name.lower()).strip("_") or "tool"
    rest = ", ".join(f"{name}: {to_bytes(value).decode()}" for name, value in listed.declaration().items())
    return f"{key}: {{effect: …, {rest}}}"
