"""What a stored value is, found out by code: JSON, a table, a page, a log or plain text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum

from contracts import Json
from runtime.canonical import clean_text
from runtime.context.bounds import Spelled
from runtime.context.reading.logs import is_log
from runtime.context.reading.pages import Page, is_page, read_page
from runtime.context.reading.tables import Table, read_table
from runtime.strict_json import MOST_DIGITS

_JSON_LINES = 3
"""So many first lines that are JSON objects make it worth reading all of them."""


class Kind(StrEnum):
    """What a value is read as."""

    JSON = "JSON"
    CSV = "CSV"
    HTML = "HTML"
    LOG = "log"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Opened:
    """A value with what was found out about it."""

    kind: Kind
    value: Json
    """JSON: what it means; else the text itself."""
    lines: tuple[str, ...] = ()
    """What `L1`, `L2`, … are; of a page the lines of its readable text. Empty for JSON."""
    table: Table | None = None
    page: Page | None = None


def open_value(value: Json) -> Opened:
    """Return what a value is. A text that holds JSON, or a JSON object in each line, is taken for JSON."""
    if not isinstance(value, str):
        return Opened(Kind.JSON, value)
    text = clean_text(value).removeprefix("\ufeff")
    try:
        return Opened(Kind.JSON, _json_in(text))
    except (ValueError, RecursionError):
        return _open_text(text)


def _open_text(text: str) -> Opened:
    if is_page(text):
        page = read_page(text)
        return Opened(Kind.HTML, text, page.lines, page=page)
    lines = tuple(text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n"))
    if is_log(lines):
        return Opened(Kind.LOG, text, lines)
    table = read_table(text)
    if table is not None:
        return Opened(Kind.CSV, text, lines, table=table)
    return Opened(Kind.TEXT, text, lines)


def _json_in(text: str) -> Json:
    """Return what a JSON text means; raise ValueError for what is none, or a single value."""
    begins = text[:1_000].lstrip()[:1]
    if begins not in ("{", "["):
        raise ValueError
    try:
        return _read(text)
    except ValueError:
        if begins == "{" and re.match(r"\s*\{[^\n]*\}\s*\n\s*\{", text):
            return _json_lines(text)
        raise


def _json_lines(text: str) -> list[Json]:
    lines = [line for line in text.split("\n") if line.strip()]
    first = [_read(line) for line in lines[:_JSON_LINES]]
    if not all(isinstance(each, dict) for each in first):
        raise ValueError
    return first + [_read(line) for line in lines[_JSON_LINES:]]


def _read(text: str) -> Json:
    value: Json = json.loads(text, parse_float=Spelled, parse_int=_int)
    return value


def _int(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError
    return int(text)
