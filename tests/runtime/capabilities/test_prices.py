from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from contracts import Money
from runtime.capabilities.connections import read_connection
from runtime.capabilities.specs import connection_specs

OPERATION = {"method": "GET", "path": "/x"}
CENT = (Money.parse("0.01 USD"),)


def costs(**connection: Any) -> Any:
    (spec,) = connection_specs({"it": read_connection(connection)})
    return spec.costs


@pytest.mark.parametrize(
    ("connection", "expected"),
    [
        ({"kind": "http", "base": "https://x.example", "operations": {"x": OPERATION}}, None),
        ({"kind": "http", "service": {"command": ["x"]}, "operations": {"x": OPERATION}}, ()),
        ({"kind": "http", "base": "https://x.example", "price": "0.01 USD", "operations": {"x": OPERATION}}, CENT),
        ({"kind": "http", "base": "https://x.example", "operations": {"x": {**OPERATION, "price": "0 USD"}}}, ()),
        ({"kind": "url", "url": "postgresql://x"}, None),
        ({"kind": "url", "url": "postgresql://x", "price": "0.01 USD"}, CENT),
        ({"kind": "mcp", "command": "x", "tools": {"x": {"effect": "read"}}}, None),
        ({"kind": "mcp", "command": "x", "tools": {"x": {"effect": "read", "price": "0.01 USD"}}}, CENT),
        ({"kind": "mcp", "url": "https://x.example", "price": "0 USD", "tools": {"x": {"effect": "read"}}}, ()),
        ({"kind": "sqlite", "file": "x.db"}, ()),
    ],
)
def test_what_runs_here_costs_nothing_and_what_is_far_away_says_what_it_costs(
    connection: dict[str, Any], expected: Any
) -> None:
    assert costs(**connection) == expected


def test_a_price_is_written_as_money() -> None:
    with pytest.raises(ValidationError, match=r"`price` is written as `0\.02 USD`"):
        read_connection({"kind": "url", "url": "postgresql://x", "price": 3})
