"""A table of flights in an embedded database, as the query function of metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import duckdb
import pytest

from contracts import Json, MetricDefinition


class Duck:
    """Runs queries and remembers them."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.asked: list[tuple[str, str, dict[str, Json], datetime]] = []
        self.connection.execute("CREATE TABLE flights (due TIMESTAMP, origin TEXT, carrier TEXT, cancelled BOOLEAN)")

    def fly(self, due: str, *, origin: str = "EWR", carrier: str = "AA", flown: int = 0, cancelled: int = 0) -> None:
        self.connection.execute(
            "INSERT INTO flights SELECT ?, ?, ?, number >= ? FROM range(?) numbers(number)",
            [due, origin, carrier, flown, flown + cancelled],
        )

    async def query(
        self, connection: str, sql: str, parameters: dict[str, Json], known_at: datetime
    ) -> Sequence[Mapping[str, Any]]:
        self.asked.append((connection, sql, parameters, known_at))
        cursor = self.connection.execute(sql, parameters)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.fixture
def duck() -> Iterator[Duck]:
    made = Duck()
    yield made
    made.connection.close()


def cancel_rate(**fields: Any) -> MetricDefinition:
    values: dict[str, Any] = {
        "name": "cancel-rate",
        "title": "Cancel rate",
        "source": "flights",
        "over": "flights",
        "time": "due",
        "value": "avg(CAST(cancelled AS INTEGER))",
        "unit": "share",
        "grains": ("hour", "day", "week", "month"),
        "dimensions": {"origin": "origin", "carrier": "carrier"},
        "owner": "desk",
    }
    return MetricDefinition(**{**values, **fields})
