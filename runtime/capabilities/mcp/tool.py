"""`NAME.TOOL`: a declared tool of an MCP server. No other tool of it can be called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from contracts import EvidenceItem, EvidenceKind, Json
from runtime.canonical import sha256
from runtime.capabilities.connections_mcp import McpConnection, McpTool
from runtime.capabilities.mcp.result import fault_in, files_of, output_of
from runtime.capabilities.mcp.server import Asked, McpServer
from runtime.capabilities.new_files import describe
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.specs import mcp_specs
from runtime.settings import McpSettings


class McpCall:
    """The capability: one tool of one server."""

    def __init__(self, server: McpServer, spec: CapabilitySpec, tool: McpTool) -> None:
        self.spec = spec
        self._server = server
        self._tool = tool

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Call the tool with the step's idempotency key in `_meta`, and return what it gave."""
        name = self.spec.name
        given = {key: value for key, value in arguments.items() if not self._is_left_out(key, value)}
        answer, known = await self._server.call(Asked(name.partition(".")[2], self._tool, given, context.key))
        fault = fault_in(name, answer, atomic=self._tool.atomic)
        if fault is not None:
            raise fault
        files = files_of(name, answer)
        output = output_of(name, answer, files, self._tool.gives)
        kind = EvidenceKind.RECEIPT if self.spec.effect.needs_gate else EvidenceKind.CALL
        facts: dict[str, Json] = {**known, "idempotency_key": context.key}
        made = [self._item(EvidenceKind.FILE, context, sha256(file.data), describe(file)) for file in files]
        return CallResult(
            output, evidence=(self._item(kind, context, sha256(output), facts), *made), files=tuple(files)
        )

    def _is_left_out(self, name: str, value: Json) -> bool:
        """Whether an argument stands for nothing: servers take an argument that is absent, and refuse a null."""
        parameter = self._tool.arguments.get(name)
        return value is None and parameter is not None and not parameter.required

    def _item(self, kind: EvidenceKind, context: CallContext, digest: str, facts: dict[str, Json]) -> EvidenceItem:
        return EvidenceItem(
            kind=kind, at=context.now, step=context.step, capability=self.spec.name, sha256=digest, facts=facts
        )


def mcp_capabilities(
    name: str, connection: McpConnection, *, folder: Path, settings: McpSettings, secrets: Secrets
) -> tuple[McpServer, list[McpCall]]:
    """Return the server (close it at the end) and a capability for each of its declared tools."""
    server = McpServer(name, connection, folder=folder, settings=settings, secrets=secrets)
    specs = mcp_specs(name, connection, settings)
    return server, [McpCall(server, spec, connection.tools[spec.name.partition(".")[2]]) for spec in specs]
