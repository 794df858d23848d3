"""The SQL of one reading of one metric. What differs by kind of database stands in `metric_dialects`.

The expressions of a definition are the organisation's own and go in as they are; table and dimension names are
checked, and every value that comes from a caller travels as a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts import Grain, Json, MetricDefinition
from memory.metric_dialects import DIALECTS, Dialect
from runtime.errors import InvalidArguments

_TABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,2}")


@dataclass(frozen=True, slots=True)
class Query:
    """One query with its parameters."""

    sql: str
    parameters: dict[str, Json]

    @classmethod
    def together(cls, queries: Sequence[Query]) -> Query:
        """Return several as one, to be known by; it cannot be asked."""
        parameters: dict[str, Json] = {str(place): query.parameters for place, query in enumerate(queries)}
        return cls(";\n".join(query.sql for query in queries), parameters)


def reading(
    metric: MetricDefinition,
    grain: Grain,
    *,
    start: datetime,
    end: datetime,
    where: Mapping[str, Json],
    by: Sequence[str],
    database: str = "duckdb",
) -> Query:
    """Return the query for all buckets that start in [start, end): columns `bucket`, `d0`, `d1`, …, `value`, `n`.

    A metric by Python has, in the place of `value`, a list `a0`, `a1`, … for each argument, in order of time. `start`
    and `end` are local wall-clock moments. `where` keeps one slice, `by` splits into slices.

    Args:
        database: which kind answers, one of `DIALECTS`.

    Raises:
        InvalidArguments: a dimension is not declared, the definition's table is no name, or that kind of database
            cannot be read by metrics, or not by this one.
    """
    dialect = DIALECTS.get(database)
    if dialect is None:
        raise InvalidArguments(
            f"Metrics cannot be read from {database}; they can from {', '.join(sorted(DIALECTS))}.", database=database
        )
    if not _TABLE.fullmatch(metric.over):
        raise InvalidArguments(
            f"The metric {metric.name} reads from {metric.over!r}, which is no table name.", over=metric.over
        )
    time = dialect.time.format(time=f"({metric.time})")
    dimensions = [f"({_dimension(metric, name)}) AS d{index}" for index, name in enumerate(by)]
    columns = [
        f"{dialect.buckets[grain].format(time=f'({metric.time})')} AS bucket",
        *dimensions,
        *_values(metric, dialect, database),
        f"({metric.n}) AS n",
    ]
    conditions = [
        f"({metric.where})",
        f"{time} >= {dialect.moment.format(parameter=f'{dialect.marker}start')}",
        f"{time} < {dialect.moment.format(parameter=f'{dialect.marker}end')}",
        *(f"({_dimension(metric, name)}) = {dialect.marker}w{index}" for index, name in enumerate(where)),
    ]
    keys = ", ".join(str(place) for place in range(1, len(by) + 2))
    sql = (
        f"SELECT {', '.join(columns)}\nFROM {metric.over}\nWHERE {' AND '.join(conditions)}\n"
        f"GROUP BY {keys}\nORDER BY {keys}"
    )
    values: dict[str, Json] = {f"w{index}": value for index, value in enumerate(where.values())}
    return Query(sql, {"start": start.isoformat(sep=" "), "end": end.isoformat(sep=" "), **values})


def _values(metric: MetricDefinition, dialect: Dialect, database: str) -> list[str]:
    if metric.python is None:
        return [f"({metric.value}) AS value"]
    if not dialect.listed:
        raise InvalidArguments(
            f"The metric {metric.name} is computed by Python from rows in their order, which {database} cannot give. "
            "Read it from DuckDB or PostgreSQL, or write its value in SQL.",
            metric=metric.name, database=database,
        )  # fmt: skip
    lists = (dialect.listed.format(value=f"({sql})", time=f"({metric.time})") for sql in metric.takes.values())
    return [f"{listed} AS a{index}" for index, listed in enumerate(lists)]


def _dimension(metric: MetricDefinition, name: str) -> str:
    try:
        return metric.dimensions[name]
    except KeyError:
        offered = ", ".join(metric.dimensions) or "none"
        raise InvalidArguments(
            f"The metric {metric.name} has no dimension {name}; it has: {offered}.", dimension=name
        ) from None
