"""The rows a query gave, as plain values; and how a running query is stopped."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from contracts import Json
from runtime.canonical import clean, sha256
from runtime.errors import BusinessRefusal, InvalidArguments

_DAY = re.compile(r"^\d{4}-\d{2}-\d{2}$")
_MOMENT = re.compile(r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$")


@dataclass(frozen=True, slots=True)
class Query:
    """One question to a data source."""

    sql: str
    parameters: Mapping[str, Json]
    known_at: datetime
    """Aware; only what was known then is seen."""
    rows: int
    """Rows at most; more is an error."""

    def sha256(self, views: Mapping[str, str] | None = None) -> str:
        """Hash of the text, its parameters, and the texts of the views it stands on."""
        asked: dict[str, Json] = {"sql": self.sql, "parameters": clean(self.parameters)}
        return sha256({**asked, "views": dict(views)} if views else asked)


@dataclass(frozen=True, slots=True)
class Table:
    """The answer, with where it came from."""

    columns: tuple[str, ...]
    rows: list[dict[str, Json]]
    query_sha256: str
    data_sha256: str | None = None
    """Of the data file; None for a server, whose bytes nobody can hash."""


class QueryStopped(Exception):
    """The query was stopped from outside."""


@dataclass(slots=True)
class Interrupt:
    """The way to stop a query that runs in another thread, at any moment."""

    _stop: Callable[[], None] | None = None
    _asked: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def armed(self, stop: Callable[[], None]) -> Iterator[None]:
        """While the block runs, `ask` calls `stop`; raise QueryStopped when it was asked before."""
        with self._lock:
            if self._asked:
                raise QueryStopped
            self._stop = stop
        try:
            yield
        finally:
            with self._lock:
                self._stop = None

    def ask(self) -> None:
        """Stop the query, now or as soon as it starts."""
        with self._lock:
            self._asked = True
            if self._stop is not None:
                self._stop()


def to_table(
    query: Query,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    data_sha256: str | None = None,
    views: Mapping[str, str] | None = None,
) -> Table:
    """Return the rows as objects of plain values; `rows` holds one more than allowed when there are too many."""
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise InvalidArguments(
            f"The query gives two columns named {twice[0]}; give one of them another name with AS.", column=twice[0]
        )
    if len(rows) > query.rows:
        raise BusinessRefusal(
            f"The query gives more than {query.rows} rows. Sum them up in the query, or raise the setting sql.rows.",
            limit=query.rows,
        )
    plain = [dict(zip(columns, (plain_value(value) for value in row), strict=True)) for row in rows]
    return Table(tuple(columns), plain, query.sha256(views), data_sha256)


def plain_value(value: Any) -> Json:
    """Return one value of a database: decimals become numbers, dates ISO text, NaN null, all the rest as everywhere."""
    match value:
        case None | bool() | int() | str():
            return clean(value)
        case Decimal():
            return _number(value)
        case list() | tuple():
            return [plain_value(item) for item in value]
        case dict():
            return {str(key): plain_value(item) for key, item in value.items()}
    return clean(value)


def _number(value: Decimal) -> Json:
    if not value.is_finite():
        return None
    return int(value) if value == value.to_integral_value() else float(value)


def bind_value(value: Json, zone: ZoneInfo) -> Any:
    """Return an argument as databases compare it: an ISO day as a date, an ISO moment as local wall-clock time."""
    if not isinstance(value, str):
        return value
    try:
        if _DAY.match(value):
            return date.fromisoformat(value)
        if _MOMENT.match(value):
            return local_time(datetime.fromisoformat(value), zone)
    except ValueError:
        pass  # looks like a date and is none, such as 2013-02-30: the database sees the text
    return value


def local_time(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return the wall-clock time that clocks in `zone` show at `moment`."""
    return moment.astimezone(zone).replace(tzinfo=None) if moment.tzinfo else moment


def take_parameters(wanted: set[str], given: Mapping[str, Any], sign: str) -> dict[str, Any]:
    """Return those of `given` that the query names; raise InvalidArguments for one that nobody gave."""
    missing = sorted(wanted - given.keys())
    if missing:
        there = ", ".join(sorted(given)) or "none"
        raise InvalidArguments(
            f"The query names {sign}{missing[0]}, but no value was passed for it. Passed: {there}.",
            missing=missing[0], passed=list[Json](sorted(given)),
        )  # fmt: skip
    return {name: given[name] for name in wanted}
