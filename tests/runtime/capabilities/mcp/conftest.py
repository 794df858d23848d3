"""MCP servers that tests call: a program of their own, or one at an address that can be killed and started again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'silicon-org[mcp]'")

from runtime.capabilities.connections import read_connection
from runtime.capabilities.connections_mcp import McpConnection
from runtime.capabilities.mcp.tool import McpCall, mcp_capabilities
from runtime.capabilities.port import CallResult
from runtime.capabilities.secrets import Secrets
from runtime.settings import McpSettings
from tests.fakes import mcp_server, warm_mcp_server
from tests.fakes.calls import a_call

SETTINGS = McpSettings(timeout_s=60, start_s=60)
PARAMETERS: dict[str, dict[str, Any]] = {
    "echo": {"text": "string"},
    "shout": {"text": "string"},
    "fail": {"text": "string"},
    "raises": {"text": "string"},
    "slow": {"text": "string"},
    "large": {"kib": "integer"},
    "broken": {"kib": "integer"},
    "write": {"line": "string", "then": {"type": "string", "required": False}},
}


class Desk:
    """The capabilities of one connection `desk`, and the folder of its server."""

    def __init__(self, folder: Path, declared: dict[str, Any], settings: McpSettings, environment: dict[str, str]):
        connection = read_connection({"kind": "mcp", **declared})
        assert isinstance(connection, McpConnection)
        secrets = Secrets(environment, folder)
        self.folder = folder
        self.server, found = mcp_capabilities("desk", connection, folder=folder, settings=settings, secrets=secrets)
        self.tools: dict[str, McpCall] = {each.spec.name.partition(".")[2]: each for each in found}

    async def call(self, tool: str, context: Any = None, /, **arguments: Any) -> CallResult:
        """Call one of its tools."""
        result = await self.tools[tool].call(arguments, context or a_call())
        assert isinstance(result, CallResult)
        return result

    def lines(self, file: str) -> list[str]:
        """Return what the server noted there."""
        path = self.folder / file
        return path.read_text().splitlines() if path.exists() else []


class Address:
    """A server at an address, as a process of its own."""

    def __init__(self, command: Sequence[str], *options: str) -> None:
        self._command = [*command, *options]
        self._process: subprocess.Popen[str] | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        """Where it is; the same after a restart."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        command = [*self._command, "--port", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        """End it at once, if it has not ended itself."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def restart(self) -> None:
        """End it, and start it anew at the same address: it knows none of its sessions."""
        self.kill()
        self.start()


Open = Callable[..., Desk]


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Return the arguments of Python with which a server starts at once."""
    link = str(tmp_path_factory.mktemp("warm") / "link")
    process = subprocess.Popen(
        [sys.executable, warm_mcp_server.__file__, link], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    yield ["-S", "-E", "-c", warm_mcp_server.RELAY, link]
    process.communicate()


@pytest.fixture
async def desk(tmp_path: Path, warm: list[str]) -> AsyncIterator[Open]:
    """Return what declares a connection, over stdio unless a `url` is given."""
    made: list[Desk] = []

    def open_desk(*options: str, tools: dict[str, Any] | None = None, **declared: Any) -> Desk:
        settings = declared.pop("settings", SETTINGS)
        environment = declared.pop("environment", {})
        if "url" not in declared and "command" not in declared:
            declared |= {"command": "python", "args": [*warm, str(tmp_path), *options]}
        every = {name: {"effect": "read"} for name in mcp_server.SCHEMAS} if tools is None else tools
        full = {name: {"parameters": PARAMETERS.get(name, {}), **tool} for name, tool in every.items()}
        made.append(Desk(tmp_path, {"tools": full, **declared}, settings, environment))
        return made[-1]

    yield open_desk
    for each in made:
        await each.server.close()


@pytest.fixture
def at_address(tmp_path: Path, warm: list[str]) -> Iterator[Callable[..., Address]]:
    """Return what starts a server at an address."""
    made: list[Address] = []

    def start(*options: str) -> Address:
        made.append(Address([sys.executable, *warm, str(tmp_path)], *options))
        return made[-1]

    yield start
    for each in made:
        each.kill()
