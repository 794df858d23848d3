"""An MCP server as a program: its environment is scrubbed, its messages are bounded, its end is told at once.

The SDK's own transport passes HOME, USER and more on, reads a line of any length, and does not say why a server ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from runtime.capabilities.mcp.exchange import EXCHANGE
from runtime.errors import BusinessRefusal, CapabilityFailed, NetworkFault

_END_S = 2.0
"""What a server gets to end once its standard input is closed, and again once it is asked to (SIGTERM)."""
_QUOTED = 300
"""Characters of the last line on standard error that an error quotes."""
_KEPT = 4_096


class StdioTransport:
    """Starts the program when it is entered and ends it, with all it started, when it is left."""

    def __init__(
        self, name: str, command: Sequence[str], *, environment: Mapping[str, str], folder: Path, limit_kib: int
    ) -> None:
        self._name = name
        self._command = command
        self._environment = environment
        self._folder = folder
        self._limit_kib = limit_kib
        self._said = bytearray()
        self._tasks: list[asyncio.Task[None]] = []
        self.ended: asyncio.Future[CapabilityFailed] = asyncio.get_running_loop().create_future()
        """Why nothing comes any more, once that is so."""

    async def __aenter__(self) -> tuple[Any, Any]:
        self._process = await self._started()
        sink, source = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self._sink = sink
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._listen())]
        return source, _Stdin(self._process)

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await _end(self._process)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._sink.close()

    async def _started(self) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(self._environment), cwd=self._folder,
                start_new_session=True, limit=self._limit_kib * 1_024,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise CapabilityFailed(
                f"The MCP server of connection {self._name} cannot be started: {self._command[0]}: {why}. Install it, "
                "or correct `command` in connections.yaml.",
                connection=self._name, happened="no",
            ) from error  # fmt: skip

    async def _read(self) -> None:
        """Hand on one message after another, until there are no more or one is too large."""
        assert self._process.stdout is not None
        why: CapabilityFailed
        try:
            while True:
                await self._sink.send(_message(await self._process.stdout.readuntil(b"\n")))
        except asyncio.IncompleteReadError:
            why = await self._why_it_ended()
        except asyncio.LimitOverrunError:
            why = BusinessRefusal(
                f"The MCP server of connection {self._name} answered with more than {self._limit_kib} KiB and was "
                "stopped. Ask it for less, or raise the setting mcp.result_kib.",
                connection=self._name, limit_kib=self._limit_kib,
            )  # fmt: skip
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the session is being left
        self.ended.set_result(why)
        self._sink.close()

    async def _listen(self) -> None:
        """Keep the end of what the server says on standard error; a full pipe would stop it."""
        assert self._process.stderr is not None
        while said := await self._process.stderr.read(_KEPT):
            self._said = (self._said + said)[-_KEPT:]

    async def _why_it_ended(self) -> NetworkFault:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await self._process.wait()
                await asyncio.wait({self._tasks[1]})  # all that it said has been heard
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended (exit code {code})"
        said = self._last_line()
        return NetworkFault(
            f"The MCP server of connection {self._name} {how}."
            + (f" The last line of its standard error: {said}" if said else " It said nothing on standard error."),
            connection=self._name, exit_code=code,
        )  # fmt: skip

    def _last_line(self) -> str:
        lines = self._said.decode(errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return "".join(sign if sign.isprintable() else " " for sign in last).strip()[:_QUOTED]


class _Stdin:
    """Where the session writes: in the context of whoever sends, so that it is known what left."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        self._pipe = process.stdin

    async def send(self, item: SessionMessage) -> None:
        """Write one message whole, whatever becomes of the sender meanwhile."""
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        exchange = EXCHANGE.get()
        if self._pipe.is_closing():
            raise anyio.BrokenResourceError
        if exchange is not None and isinstance(item.message, JSONRPCRequest):
            exchange.began = True
        try:
            self._pipe.write(line)
            await self._pipe.drain()
        except (ConnectionError, RuntimeError) as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Leave the pipe open: the transport closes it when it ends the program."""

    async def __aenter__(self) -> _Stdin:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError as error:
        return error


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its input, ask it to end, end it: each a little later than the one before, and its children with it."""
    assert process.stdin is not None
    process.stdin.close()
    for send in (None, signal.SIGTERM, signal.SIGKILL):
        if send is not None:
            _signal(process.pid, send)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await process.wait()
                break
    _signal(process.pid, signal.SIGKILL)  # what it started and left behind


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
