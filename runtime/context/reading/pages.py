"""HTML as lines that can be read: a block each, a row of a table each, without markup.

No library that was tried is fit for pages that mean harm: for 2 MB of tags inside each other a quick one took more than
a minute, and Python's own five seconds. What is needed is less than they do: nothing is built or shown again
as HTML, so tags are only told apart from text, in one pass.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from runtime.context.bounds import counted, one_line
from runtime.context.reading.anchors import line_text

_SAMPLE = 4_096
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<hidden>script|style|noscript|template|svg)\b[^<>]*>.*?(?:</(?P=hidden)\s*>|\Z)"
    r"|<(?P<end>/?)(?P<tag>[a-z][a-z0-9:-]*)(?:[\s/][^<>]*)?>"
    r"|<[!?][^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
"""Each alternative ends at the next bracket or takes all that is left, so that no text is gone over twice."""
_BEGINS = re.compile(
    r"(?>(?:(?><!--.*?-->)|<\?[^<>]*>|\s)*)<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_TYPICAL = re.compile(
    r"</(?:p|div|span|a|li|ul|ol|td|tr|th|table|h[1-6]|strong|em|b|section|article)\s*>", re.IGNORECASE
)
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr",
    "html", "li", "main", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead",
    "title", "tr", "ul",
))  # fmt: skip


@dataclass(slots=True)
class PageTable:
    """A table of a page."""

    line: int
    """Where it begins."""
    rows: int = 0
    columns: int = 0


@dataclass(slots=True)
class Page:
    """A page as it reads."""

    title: str = ""
    lines: tuple[str, ...] = ()
    headings: list[tuple[int, int]] = field(default_factory=list)
    """Level, and line from 1."""
    tables: list[PageTable] = field(default_factory=list)
    links: int = 0


def is_page(text: str) -> bool:
    """Whether a text is HTML, whole or a piece of it."""
    begins = text[:_SAMPLE]
    if _BEGINS.match(begins):
        return True
    return begins.lstrip().startswith("<") and len(_TYPICAL.findall(begins)) >= 2


def read_page(text: str) -> Page:
    """Return a page as it reads."""
    return _Reader().read(text)


class _Reader:
    def __init__(self) -> None:
        self._page = Page()
        self._lines: list[str] = []
        self._words: list[str] = []
        self._cells = 0
        self._heading = 0
        self._in_title = False
        self._tables: list[PageTable] = []

    def read(self, text: str) -> Page:
        at = 0
        for token in _TOKEN.finditer(text):
            self._words.append(text[at : token.start()])
            at = token.end()
            if token["tag"]:
                self._tag(token["tag"].lower(), ends=bool(token["end"]))
        self._words.append(text[at:])
        self._end_line()
        self._page.lines = tuple(self._lines)
        self._page.tables = [table for table in self._page.tables if table.rows]
        return self._page

    def _tag(self, tag: str, *, ends: bool) -> None:
        if tag in ("td", "th") and not ends:
            self._cell()
        elif tag in _BLOCKS:
            if tag in ("p", "div", "br", "ul", "li", "ol") and self._tables and self._cells:
                self._words.append(" ")  # a row stays one line, whatever its cells hold
                return
            self._end_line()
            self._block(tag, ends=ends)
        elif tag == "a" and not ends:
            self._page.links += 1

    def _block(self, tag: str, *, ends: bool) -> None:
        if tag == "title":
            self._in_title = not ends
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self._heading = 0 if ends else int(tag[1])
        elif tag == "table" and not ends:
            table = PageTable(len(self._lines) + 1)
            self._tables.append(table)
            self._page.tables.append(table)
        elif tag == "table" and self._tables:
            self._tables.pop()

    def _cell(self) -> None:
        self._words.append(" | " if self._cells else "")
        self._cells += 1

    def _end_line(self) -> None:
        line = " ".join(html.unescape("".join(self._words)).split())
        self._words.clear()
        cells, self._cells = self._cells, 0
        if self._in_title:
            self._page.title = self._page.title or line
        if not line:
            return
        self._lines.append(line)
        if self._heading:
            self._page.headings.append((self._heading, len(self._lines)))
        if cells and self._tables:
            self._tables[-1].rows += 1
            self._tables[-1].columns = max(self._tables[-1].columns, cells)


def page_lines(page: Page, *, samples: bool, most: int) -> Iterator[str]:
    """Yield what there is to say about a page: title, size, headings, tables, and its first lines."""
    if page.title:
        yield f"title: {one_line(page.title, 200)}"
    yield f"{counted(len(page.lines), 'line')} of text without markup, {counted(page.links, 'link')}"
    for table in page.tables[:most]:
        head = f": {one_line(page.lines[table.line - 1], 160)}" if samples and table.line <= len(page.lines) else ""
        size = f"{counted(table.rows, 'row')} × {counted(table.columns, 'column')}"
        yield f"table at {line_text(None, table.line)}, {size}{head}"
    if len(page.tables) > most:
        yield f"{len(page.tables):,} tables in all"
    for level, line in page.headings:
        yield f"{line_text(None, line)} {'#' * level} {one_line(page.lines[line - 1], 120)}"
    if samples and not page.headings:
        for number, line_said in enumerate(page.lines[:most], 1):
            yield f"{line_text(None, number)} {one_line(line_said, 120)}"
