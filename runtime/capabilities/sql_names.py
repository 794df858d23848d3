"""Which named parameters a query reads that nobody passes, told from its text alone."""

from __future__ import annotations

import re
from collections.abc import Collection

from runtime.capabilities.connections import DuckdbConnection, SqlConnection

_DOLLAR = re.compile(r"\$([A-Za-z_]\w*)")
_COLON = re.compile(r"(?<![:\w\\]):([A-Za-z_]\w*)(?!:)")
_ALWAYS = "known_at"
"""Is passed to every query."""


def not_passed(connection: SqlConnection, sql: str, given: Collection[str]) -> list[str]:
    """Return the names, with their sign, that the text reads and `given` lacks; none of a text that cannot be read.

    What only looks like a name, in a text or a comment, is none: whatever reads the query later says which are. That is
    brought in only where a name may be missing, since it takes a tenth of a second.
    """
    duckdb = isinstance(connection, DuckdbConnection)
    pattern, sign = (_DOLLAR, "$") if duckdb else (_COLON, ":")
    missing = set(pattern.findall(sql)) - {_ALWAYS, *given}
    if missing:
        missing &= _names_to_duckdb(sql) if duckdb else _names_to_sqlalchemy(sql)
    return [f"{sign}{name}" for name in sorted(missing)]


def _names_to_duckdb(sql: str) -> set[str]:
    import duckdb

    try:
        return {name for statement in duckdb.extract_statements(sql) for name in statement.named_parameters}
    except duckdb.Error:
        return set()


def _names_to_sqlalchemy(sql: str) -> set[str]:
    from sqlalchemy import text

    return set(text(sql).compile().params)
