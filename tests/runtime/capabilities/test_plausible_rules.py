"""Rules for odd results, as `connections.yaml` declares them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from runtime.capabilities.connections import Connection
from runtime.capabilities.specs import connection_specs

RULE = {"check": "n > 0", "message": "Nobody is there."}
HTTP: dict[str, Any] = {
    "kind": "http",
    "base": "https://x.example",
    "operations": {"look": {"method": "GET", "path": "/"}},
}
BRIDGE: dict[str, Any] = {"kind": "bridge", "operations": {"look": {"effect": "read"}}}
MCP: dict[str, Any] = {"kind": "mcp", "command": "server", "tools": {"look": {"effect": "read"}}}


def declared(connection: dict[str, Any], rule: dict[str, str]) -> Any:
    place = "tools" if "tools" in connection else "operations"
    written = {**connection, place: {"look": {**connection[place]["look"], "plausible": [rule]}}}
    return TypeAdapter(Connection).validate_python(written)


@pytest.mark.parametrize("connection", [HTTP, BRIDGE, MCP], ids=["http", "bridge", "mcp"])
def test_a_rule_of_an_operation_is_one_of_its_capability(connection: dict[str, Any]) -> None:
    (spec,) = connection_specs({"x": declared(connection, RULE)})

    assert [rule.check for rule in spec.plausible] == ["n > 0"]


@pytest.mark.parametrize("connection", [HTTP, BRIDGE, MCP], ids=["http", "bridge", "mcp"])
def test_a_rule_that_cannot_be_read_is_refused_with_its_place(connection: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="`n >` cannot be read"):
        declared(connection, {**RULE, "check": "n >"})
