"""One MCP server as its connection declares it: opened when it is first needed, once for the whole process."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from contracts import Effect, Json
from runtime.capabilities.connection_parts import Secret
from runtime.capabilities.connections_mcp import McpConnection, McpTool
from runtime.capabilities.errors import NotInstalled, ToolChanged, ToolMissing
from runtime.capabilities.local_service import passed_on
from runtime.capabilities.mcp.exchange import Exchange, SessionLost
from runtime.capabilities.secrets import Secrets
from runtime.errors import CapabilityFailed, CapabilityTimeout, NetworkFault
from runtime.settings import McpSettings

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from runtime.capabilities.mcp.listing import ListedTool
    from runtime.capabilities.mcp.session import Session, Transport

_log = logging.getLogger(__name__)
Fault = TypeVar("Fault", bound=CapabilityFailed)
_AGAIN = (Effect.READ, Effect.IDEMPOTENT)
"""Effects of calls that may run twice."""


class Asked(NamedTuple):
    """One call of a declared tool."""

    name: str
    """What the tool is called here."""
    tool: McpTool
    arguments: Mapping[str, Json]
    key: str


class _Sdk(NamedTuple):
    session: type[Session]
    http: Callable[..., Transport]
    stdio: Callable[..., Transport]


class McpServer:
    """A server and the session with it.

    A session that is lost is opened again, once for each call that finds it lost. Calls are repeated only where the
    server surely did not act, or where acting twice does no harm; of any other call that got no answer, nobody knows.
    """

    def __init__(
        self, name: str, connection: McpConnection, *, folder: Path, settings: McpSettings, secrets: Secrets
    ) -> None:
        self.name = name
        self._connection = connection
        self._folder = folder
        self._settings = settings
        self._secrets = secrets
        self._session: Session | None = None
        self._opening: asyncio.Task[Session] | None = None
        self._retired: list[Session] = []
        self._opened = 0
        self._seen: dict[str, str] = {}
        """Tool → the version that was called last."""

    @property
    def status(self) -> str:
        """How the connection stands, in plain words."""
        if self._session is None:
            return "not opened yet"
        if self._session.lost is not None:
            return f"lost: {self._session.lost.message}"
        return "open" if self._opened == 1 else f"open, for the {self._opened}. time"

    async def tools(self) -> Mapping[str, ListedTool]:
        """Return what the server offers now, by its own names; raise CapabilityFailed when it cannot be asked."""
        session = await self._current()
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await session.tools(fresh=True)
        except SessionLost as lost:
            raise _told(lost.fault, Exchange()) from None
        except TimeoutError:
            raise NetworkFault(
                f"The MCP server of connection {self.name} did not list its tools within {self._settings.timeout_s:g} "
                "s. Look at it, or raise the setting mcp.timeout_s.",
                connection=self.name, happened="no",
            ) from None  # fmt: skip

    async def call(self, asked: Asked) -> tuple[CallToolResult, dict[str, Json]]:
        """Return what a tool gave, and what is known of the server and the tool.

        Raises:
            CapabilityFailed: with `happened="no"` where the server surely did not act.
        """
        session = await self._current()
        for again in (False, True):
            exchange = Exchange()
            try:
                async with asyncio.timeout(asked.tool.limit_s or self._settings.timeout_s):
                    return await self._called(session, asked, exchange)
            except CapabilityFailed as error:
                if not exchange.began:
                    error.facts["happened"] = "no"
                raise
            except TimeoutError:
                raise self._too_slow(asked, exchange) from None
            except SessionLost as lost:
                safe = not exchange.began or exchange.expired or asked.tool.effect in _AGAIN
                if again or not safe:
                    raise _told(lost.fault, exchange) from None
            session = await self._current()
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """End every session, and the program where one was started."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        for session in (*self._retired, *([self._session] if self._session is not None else ())):
            await session.close()
        self._session, self._retired = None, []

    async def _called(
        self, session: Session, asked: Asked, exchange: Exchange
    ) -> tuple[CallToolResult, dict[str, Json]]:
        offered = await session.tools(fresh=asked.tool.effect.needs_gate)
        listed = self._same(asked.name, asked.tool, offered)
        known: dict[str, Json] = {**session.facts, "tool": listed.name, "tool_sha256": listed.sha256}
        answer = await session.call(listed.name, asked.arguments, asked.key, exchange)
        return answer, {**known, "session": self.status}

    def _too_slow(self, asked: Asked, exchange: Exchange) -> CapabilityTimeout:
        limit_s = asked.tool.limit_s or self._settings.timeout_s
        return _told(
            CapabilityTimeout(
                f"{self.name}.{asked.name} took longer than {limit_s:g} s and was told to stop. Give it less to do, or "
                "more time (`limit_s` of the tool, or the setting mcp.timeout_s).",
                connection=self.name, timeout_s=limit_s,
            ),
            exchange,
        )  # fmt: skip

    def _same(self, name: str, tool: McpTool, offered: Mapping[str, ListedTool]) -> ListedTool:
        """Return the tool as it is now; refuse one that is not the declared version."""
        listed = offered.get(tool.tool or name)
        if listed is None:
            raise ToolMissing(
                f"The MCP server of connection {self.name} offers no tool {tool.tool or name}. It offers: "
                f"{', '.join(sorted(offered))[:300] or 'none'}. Correct connections.yaml.",
                connection=self.name, tool=tool.tool or name,
            )  # fmt: skip
        if tool.sha256 not in (None, listed.sha256):
            raise ToolChanged(
                f"The tool {listed.name} of connection {self.name} is not the version that was declared, so no "
                f"approval covers it (declared: {tool.sha256}, now: {listed.sha256}). Look at what changed with "
                "`silicon doctor`, and put its new sha256 into connections.yaml.",
                connection=self.name, tool=listed.name, sha256=listed.sha256,
            )  # fmt: skip
        if self._seen.setdefault(listed.name, listed.sha256) != listed.sha256:
            self._seen[listed.name] = listed.sha256
            _log.warning(
                "mcp tool changed", extra={"connection": self.name, "tool": listed.name, "sha256": listed.sha256}
            )
        return listed

    async def _current(self) -> Session:
        """Return the session; it is opened when there is none, by whoever comes first and for all who wait."""
        if self._session is not None and self._session.lost is None:
            return self._session
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(lambda task: None if task.cancelled() else task.exception())
        try:
            return await asyncio.shield(self._opening)
        except CapabilityFailed as error:
            raise _told(error, Exchange()) from error.__cause__

    async def _open(self) -> Session:
        sdk = await asyncio.to_thread(_sdk, self.name)  # takes a second or two
        transport = self._transport(sdk)
        old, self._session = self._session, None
        if old is not None:
            _log.warning(
                "mcp session is opened again", extra={"connection": self.name, "why": old.lost and old.lost.message}
            )
            old.retire()
            self._retired = [each for each in (*self._retired, old) if each.busy]
        session = sdk.session(self.name, transport)
        await session.open(within_s=self._settings.start_s)
        self._session = session
        self._opened += 1
        return session

    def _transport(self, sdk: _Sdk) -> Callable[[], Transport]:
        """Return what makes the transport of a session; secrets are looked up now."""
        declared, limit_kib = self._connection, self._settings.result_kib
        if declared.url is not None:
            return partial(
                sdk.http, self.name, declared.url,
                headers={name: self._value(value) for name, value in declared.headers.items()},
                allow_private=declared.allow_private, limit_kib=limit_kib,
            )  # fmt: skip
        command = [sys.executable if declared.command == "python" else declared.command or "", *declared.args]
        environment = {**passed_on(), **{name: self._value(value) for name, value in declared.env.items()}}
        return partial(sdk.stdio, self.name, command, environment=environment, folder=self._folder, limit_kib=limit_kib)

    def _value(self, value: str | Secret) -> str:
        try:
            return self._secrets.get(value.secret) if isinstance(value, Secret) else value
        except CapabilityFailed as error:
            error.facts["happened"] = "no"
            raise


def _sdk(name: str) -> _Sdk:
    """Return what is made of the SDK; it is imported where a server is opened, and nowhere before."""
    try:
        from runtime.capabilities.mcp.http import http_transport
        from runtime.capabilities.mcp.session import Session
        from runtime.capabilities.mcp.stdio import StdioTransport
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "httpx2", "anyio"):
            raise
        raise NotInstalled(
            f"Connection {name} is an MCP server, and the library that speaks to them is missing: "
            "pip install 'silicon-org[mcp]'.",
            connection=name, happened="no",
        ) from error  # fmt: skip
    return _Sdk(Session, http_transport, StdioTransport)


def _told(fault: Fault, exchange: Exchange) -> Fault:
    """Return a fault of the session as one of this call: others that wait get one of their own."""
    facts = {name: value for name, value in fault.facts.items() if name != "happened"}
    if not exchange.began or exchange.expired:
        facts["happened"] = "no"
    return type(fault)(fault.message, **facts)
