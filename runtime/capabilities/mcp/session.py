"""One session with an MCP server: opened and closed by a task of its own, used by any."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar, cast

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    RequestParamsMeta,
    ServerNotification,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from contracts import Json
from runtime.canonical import clean
from runtime.capabilities.mcp.exchange import EXCHANGE, Exchange, SessionLost
from runtime.capabilities.mcp.faults import bounded, faults_in, innermost, is_cut, refusal
from runtime.capabilities.mcp.listing import ListedTool
from runtime.errors import BusinessRefusal, CapabilityFailed, NetworkFault

_log = logging.getLogger(__name__)
_KEY = "silicon-org/idempotency-key"
"""Where the idempotency key of a call stands in its `_meta`."""
_CLOSE_S = 15.0
_MOST_PAGES = 100
_SHOWN = 300
_ANSWER: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)
Transport = AbstractAsyncContextManager[Any]
Got = TypeVar("Got")


class Session:
    """An initialised session; `lost` once nothing can be done with it any more."""

    def __init__(self, name: str, transport: Callable[[], Transport]) -> None:
        self._name = name
        self._transport = transport
        self._client: Client | None = None
        self._opened = asyncio.Event()
        self._leaving = asyncio.Event()
        self._calls = 0
        self._ended: asyncio.Future[CapabilityFailed] | None = None
        self._tools: dict[str, ListedTool] | None = None
        self._changes = 0
        self._told_of_changes = False
        self.lost: CapabilityFailed | None = None
        """Why it is of no more use."""

    async def open(self, *, within_s: float) -> None:
        """Start or reach the server and initialise the session; raise CapabilityFailed when that cannot be done."""
        self._task = asyncio.create_task(self._run())
        waiter = asyncio.create_task(self._opened.wait())
        try:
            await asyncio.wait({self._task, waiter}, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiter.cancel()
            hung = not self._task.done()
            if not self._opened.is_set():
                await self.close()
        if self._opened.is_set():
            return
        if self.lost is None or hung:
            raise NetworkFault(
                f"The MCP server of connection {self._name} did not say what it is within {within_s:g} s. Look at it, "
                "or raise the setting mcp.start_s.",
                connection=self._name, happened="no",
            )  # fmt: skip
        raise self.lost

    async def close(self) -> None:
        """End the session, and the server where it was started for it."""
        self._leaving.set()
        await asyncio.wait({self._task}, timeout=_CLOSE_S if self._opened.is_set() else 0)
        while not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CLOSE_S)

    def retire(self) -> None:
        """End it as soon as nobody waits for an answer in it."""
        if self._calls == 0:
            self._leaving.set()
        self.lost = self.lost or NetworkFault(f"The session of connection {self._name} was closed.")

    @property
    def busy(self) -> bool:
        """Whether something of it still runs."""
        return not self._task.done()

    @property
    def facts(self) -> dict[str, Json]:
        """What the server says it is."""
        client = self._live()
        info = client.server_info
        return {
            "server": clean(f"{info.name} {info.version}"[:_SHOWN]) if info is not None else None,
            "protocol": client.protocol_version,
        }

    async def tools(self, *, fresh: bool) -> Mapping[str, ListedTool]:
        """Return what the server offers, by its names.

        What was listed is used again, until the server says that it changed; unless it must be `fresh`, or the server
        would not say so.
        """
        if self._tools is not None and self._told_of_changes and not fresh:
            return self._tools
        before = self._changes
        listed = await self._within(self._list(), Exchange())
        self._tools = listed if self._changes == before else None
        return listed

    async def call(self, tool: str, arguments: Mapping[str, Json], key: str, exchange: Exchange) -> CallToolResult:
        """Return what the tool gave.

        Raises:
            SessionLost: see there; `exchange` tells whether the server can have acted.
            CapabilityFailed: the server refused it, or answered with what cannot be read.
        """
        session = self._live().session
        meta = cast(RequestParamsMeta, {_KEY: key})
        asked = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments), _meta=meta))
        answer = await self._within(session.send_request(asked, _ANSWER), exchange)  # `call_tool` may send several
        if isinstance(answer, InputRequiredResult):
            raise BusinessRefusal(
                f"The MCP server of connection {self._name} asks back instead of answering; it cannot ask anybody.",
                connection=self._name,
            )  # fmt: skip
        if not answer.is_error:
            await self._validated(tool, answer)
        return answer

    async def _validated(self, tool: str, answer: CallToolResult) -> None:
        """Hold an answer against the tool's own schema; whatever comes of that says nothing about the call."""
        try:
            await self._within(self._live().session.validate_tool_result(tool, answer), Exchange())
        except CapabilityFailed as error:
            error.facts.pop("happened", None)
            raise

    async def _within(self, asked: Awaitable[Got], exchange: Exchange) -> Got:
        token = EXCHANGE.set(exchange)
        self._calls += 1
        try:
            return await asked
        except MCPError as error:
            raise await self._fault(error, exchange) from None
        except (ValidationError, RuntimeError) as error:  # how the SDK tells that an answer is not what was declared
            raise CapabilityFailed(
                f"The MCP server of connection {self._name} answered with what does not fit its own declaration: "
                f"{bounded(error)}",
                connection=self._name,
            ) from None  # fmt: skip
        finally:
            EXCHANGE.reset(token)
            self._calls -= 1
            if self.lost is not None:
                self.retire()

    async def _list(self) -> dict[str, ListedTool]:
        found: dict[str, ListedTool] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._live().list_tools(cursor=cursor)
            found |= {tool.name: ListedTool.of(tool) for tool in page.tools}
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    def _live(self) -> Client:
        if self.lost is not None or self._client is None:
            raise SessionLost(self.lost or NetworkFault(f"The session of connection {self._name} is not open."))
        return self._client

    async def _run(self) -> None:
        exchange = Exchange()
        EXCHANGE.set(exchange)
        transport = self._transport()
        self._ended = getattr(transport, "ended", None)
        try:
            client = Client(
                transport, client_info=Implementation(name="silicon-org", version="1"),
                message_handler=self._notified, cache=None,
            )  # fmt: skip
            async with client:
                self._client = client
                await self._stay(client)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            _log.info("mcp session failed", extra={"connection": self._name}, exc_info=error)
            self.lost = self._why(error, exchange)
        finally:
            self.lost = self.lost or self._end() or NetworkFault(f"The session of connection {self._name} was closed.")

    def _end(self) -> CapabilityFailed | None:
        return self._ended.result() if self._ended is not None and self._ended.done() else None

    async def _stay(self, client: Client) -> None:
        listening = asyncio.create_task(self._hear_of_changes(client))
        leaving = asyncio.create_task(self._leaving.wait())
        try:
            self._opened.set()
            ends: set[asyncio.Future[Any]] = {leaving} if self._ended is None else {leaving, self._ended}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            self.lost = self.lost or self._end()
        finally:
            for task in (listening, leaving):
                task.cancel()
            await asyncio.gather(listening, leaving, return_exceptions=True)

    async def _hear_of_changes(self, client: Client) -> None:
        """Hear of changes to the list of tools: older servers say so by themselves, newer ones have to be asked to."""
        EXCHANGE.set(None)
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self._told_of_changes = True
            return
        with contextlib.suppress(MCPError, RuntimeError, TimeoutError):  # it does not offer that, or no longer
            async with client.listen(tools_list_changed=True) as changes:
                self._forget_tools()
                self._told_of_changes = True
                async for _ in changes:
                    self._forget_tools()
        self._told_of_changes = False

    def _forget_tools(self) -> None:
        self._tools = None
        self._changes += 1

    async def _notified(self, message: ServerNotification | Exception) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._forget_tools()
        elif isinstance(message, Exception):
            _log.info("mcp server sent what is no message", extra={"connection": self._name}, exc_info=message)

    async def _fault(self, error: MCPError, exchange: Exchange) -> Exception:
        if exchange.expired:
            self.lost = NetworkFault(
                f"The MCP server of connection {self._name} no longer knows the session.",
                connection=self._name, happened="no",
            )  # fmt: skip
            return SessionLost(self.lost)
        if exchange.fault is not None:
            lost = isinstance(exchange.fault, NetworkFault) and "status" not in exchange.fault.facts
            return SessionLost(exchange.fault) if lost else exchange.fault
        if is_cut(error):
            return SessionLost(await self._why_closed(error))
        if error.code == HEADER_MISMATCH:  # what was listed is no longer so
            self._forget_tools()
        return refusal(self._name, error)

    async def _why_closed(self, error: MCPError) -> CapabilityFailed:
        """Return why there is no answer; where a program ended, it is waited for, so that it is told how."""
        if self._ended is not None:
            await asyncio.wait({self._ended}, timeout=_CLOSE_S)
        self.lost = self.lost or self._end()
        return self.lost or NetworkFault(
            f"The MCP server of connection {self._name} gave no whole answer ({bounded(error)}).",
            connection=self._name,
        )  # fmt: skip

    def _why(self, error: Exception, exchange: Exchange) -> CapabilityFailed:
        """Return why a session could not be opened, or ended."""
        fault = exchange.fault or self._end() or next(iter(faults_in(error)), None)
        if fault is None:
            what = "failed" if self._opened.is_set() else "did not open a session"
            fault = NetworkFault(
                f"The MCP server of connection {self._name} {what}: {bounded(innermost(error))}",
                connection=self._name,
            )  # fmt: skip
        if not self._opened.is_set():
            fault.facts["happened"] = "no"
        return fault
