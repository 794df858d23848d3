from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from contracts import Effect
from runtime.capabilities.browser.capability import Browsers, browser_capabilities
from runtime.capabilities.browser.sites import Sites
from runtime.capabilities.builtin import builtin_capabilities, builtin_specs, connection_specs
from runtime.capabilities.connected import connect
from runtime.capabilities.connections import read_connection
from runtime.capabilities.resources import name_of, text_of
from runtime.capabilities.secrets import Secrets
from runtime.capabilities.web.capability import Web, web_capabilities
from runtime.errors import InvalidArguments
from runtime.settings import BrowserSettings, HttpSettings, SlotSettings, SqlSettings

CONNECTIONS = {
    "flights": read_connection({"kind": "duckdb", "file": "flights.duckdb", "known": "known.sql"}),
    "books": read_connection({"kind": "url", "url": "postgresql://ann:s3cret@db.example/books"}),
    "desk": read_connection(
        {
            "kind": "http",
            "service": {"command": ["python", "desk.py"]},
            "operations": {"counts": {"method": "GET", "path": "/counts", "parameters": {"day": "date"}}},
        }
    ),
}


def test_every_builtin_declaration_has_its_capability() -> None:
    browsers = Browsers(Sites([]), BrowserSettings())
    web = Web({}, HttpSettings(), Secrets({}))
    given = [*builtin_capabilities(SlotSettings()), *browser_capabilities(browsers), *web_capabilities(web)]

    assert [each.spec for each in given] == builtin_specs()


@pytest.mark.anyio
async def test_what_connections_declare_is_what_they_give(tmp_path: Path) -> None:
    connected = connect(
        CONNECTIONS, folder=tmp_path, home=tmp_path, time_zone="UTC", sql=SqlSettings(), http=HttpSettings()
    )
    given = [each.spec for each in connected.capabilities]
    await connected.close()

    assert given == connection_specs(CONNECTIONS)
    assert [(spec.name, spec.effect) for spec in given] == [
        ("flights.query", Effect.READ),
        ("books.query", Effect.READ),
        ("desk.counts", Effect.READ),
    ]


def test_no_declaration_holds_a_password() -> None:
    assert "s3cret" not in str(connection_specs(CONNECTIONS))


def test_connecting_loads_no_mcp_library() -> None:
    heavy = "('mcp', 'mcp_types', 'httpx2')"
    script = f"import sys, runtime.capabilities.connected; print([name for name in {heavy} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"


def test_declarations_load_neither_a_database_nor_an_http_client() -> None:
    heavy = "('sqlalchemy', 'httpx', 'duckdb', 'psutil', 'mcp')"
    script = f"import sys, runtime.capabilities.builtin; print([name for name in {heavy} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "declared",
    [
        {"kind": "http", "operations": {"a": {"method": "GET", "path": "/"}}},
        {"kind": "http", "base": "ftp://a", "operations": {"a": {"method": "GET", "path": "/"}}},
        {"kind": "http", "base": "https://a", "operations": {}},
        {"kind": "http", "base": "https://a", "operations": {"a": {"method": "GET", "path": "/", "lookup": "/x"}}},
        {"kind": "duckdb"},
        {"kind": "duckdb", "file": "a", "surprise": 1},
        {"kind": "mcp"},
        {"kind": "mcp", "command": "a", "url": "https://a"},
        {"kind": "mcp", "url": "https://a", "env": ["KEY"]},
        {"kind": "mcp", "command": "a", "headers": {"X": "y"}},
        {"kind": "mcp", "command": "a", "env": {"KEY": "written-out"}},
        {"kind": "mcp", "command": "a", "tools": {"t": {}}},
        {"kind": "mcp", "command": "a", "tools": {"t": {"effect": "write"}}},
        {"kind": "oracle", "file": "a"},
    ],
)
def test_a_faulty_connection_is_refused(declared: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        read_connection(declared)


def test_a_text_may_come_from_a_file() -> None:
    assert (text_of("SELECT 1"), name_of("SELECT 1")) == ("SELECT 1", "")
    assert text_of({"file": "a.sql", "text": "SELECT 2"}) == "SELECT 2"
    assert name_of({"file": "a.sql", "text": "SELECT 2"}) == "a.sql"
    with pytest.raises(InvalidArguments, match="A text or a file"):
        text_of(3)
