"""The SQL of one reading of one metric: ANSI but for date_trunc and named parameters, as DuckDB understands them.

The expressions of a definition are the organisation's own and go in as they are; table and dimension names are
checked, and every value that comes from a caller travels as a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts import Grain, Json, MetricDefinition
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
) -> Query:
    """Return the query for all buckets that start in [start, end): columns `bucket`, `d0`, `d1`, …, `value`, `n`.

    A metric by Python has, in the place of `value`, a list `a0`, `a1`, … for each argument, in order of time. `start`
    and `end` are local wall-clock moments. `where` keeps one slice, `by` splits into slices.

    Raises:
        InvalidArguments: a dimension is not declared, or the definition's table is no name.
    """
    if not _TABLE.fullmatch(metric.over):
        raise InvalidArguments(
            f"The metric {metric.name} reads from {metric.over!r}, which is no table name.", over=metric.over
        )
    dimensions = [f"({_dimension(metric, name)}) AS d{index}" for index, name in enumerate(by)]
    columns = [
        f"date_trunc('{grain.value}', CAST(({metric.time}) AS TIMESTAMP)) AS bucket",
        *dimensions,
        *_values(metric),
        f"({metric.n}) AS n",
    ]
    conditions = [
        f"({metric.where})",
        f"({metric.time}) >= CAST($start AS TIMESTAMP)",
        f"({metric.time}) < CAST($end AS TIMESTAMP)",
        *(f"({_dimension(metric, name)}) = $w{index}" for index, name in enumerate(where)),
    ]
    keys = ", ".join(str(place) for place in range(1, len(by) + 2))
    sql = (
        f"SELECT {', '.join(columns)}\nFROM {metric.over}\nWHERE {' AND '.join(conditions)}\n"
        f"GROUP BY {keys}\nORDER BY {keys}"
    )
    values: dict[str, Json] = {f"w{index}": value for index, value in enumerate(where.values())}
    return Query(sql, {"start": start.isoformat(sep=" "), "end": end.isoformat(sep=" "), **values})


def _values(metric: MetricDefinition) -> list[str]:
    if metric.python is None:
        return [f"({metric.value}) AS value"]
    return [
        f"list(({sql}) ORDER BY ({metric.time}), ({sql})) AS a{index}"
        for index, sql in enumerate(metric.takes.values())
    ]


def _dimension(metric: MetricDefinition, name: str) -> str:
    try:
        return metric.dimensions[name]
    except KeyError:
        offered = ", ".join(metric.dimensions) or "none"
        raise InvalidArguments(
            f"The metric {metric.name} has no dimension {name}; it has: {offered}.", dimension=name
        ) from None
