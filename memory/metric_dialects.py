"""What the SQL of a metric's reading looks like on each kind of database: buckets, moments, parameters, lists.

The expressions of a definition are written in the dialect of its own connection and go in as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contracts import Grain


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of database."""

    marker: str
    """In front of the name of a parameter."""
    buckets: Mapping[Grain, str]
    """Grain → expression that gives the start of the bucket of `{time}`; weeks begin on Monday."""
    time: str = "({time})"
    """The time of a row, as it is compared with a moment."""
    moment: str = "CAST({parameter} AS TIMESTAMP)"
    """A moment that is given as a parameter."""
    listed: str = ""
    """Expression that gives `{value}` of all rows in the order of `{time}`; empty where there is none that keeps it."""


_TRUNCATED = {grain: f"date_trunc('{grain.value}', CAST({{time}} AS TIMESTAMP))" for grain in Grain}
_DUCKDB = Dialect("$", _TRUNCATED, listed="list({value} ORDER BY {time}, {value})")
_POSTGRESQL = Dialect(":", _TRUNCATED, listed="array_agg({value} ORDER BY {time}, {value})")
_MYSQL = Dialect(
    ":",
    {
        Grain.HOUR: "TIMESTAMP(DATE({time}), MAKETIME(HOUR({time}), 0, 0))",
        Grain.DAY: "DATE({time})",
        Grain.WEEK: "DATE_SUB(DATE({time}), INTERVAL WEEKDAY({time}) DAY)",
        Grain.MONTH: "DATE_SUB(DATE({time}), INTERVAL DAYOFMONTH({time}) - 1 DAY)",
    },
    moment="{parameter}",
)
_SQLITE = Dialect(
    ":",
    {
        Grain.HOUR: "strftime('%Y-%m-%d %H:00:00', {time})",
        Grain.DAY: "date({time})",
        Grain.WEEK: "date({time}, '-6 days', 'weekday 1')",
        Grain.MONTH: "date({time}, 'start of month')",
    },
    time="datetime({time})",  # a text there: with a T or a blank, with or without seconds
    moment="{parameter}",
)
DIALECTS: Mapping[str, Dialect] = {
    "duckdb": _DUCKDB, "postgresql": _POSTGRESQL, "mysql": _MYSQL, "mariadb": _MYSQL, "sqlite": _SQLITE,
}  # fmt: skip
"""Name of a database, as SQLAlchemy has it → its dialect."""
