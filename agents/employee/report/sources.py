"""The marks in a report and the list of sources that they lead to."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from agents.employee.report.traced import Link, Links, union
from agents.employee.report.words import escape
from contracts import Json, SourceLink
from runtime.canonical import to_bytes
from runtime.errors import InvalidArguments
from runtime.texts import Say

_TOKEN = re.compile("\ue000(\\d+)\ue001")
_ALONE = re.compile(r"#{1,6} |!\[")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_SHOWN = 3
"""Places named one by one in a footnote; more are told by their common path."""
_LISTED = 50
"""Places that a data product lists one by one for a mark."""


class Page:
    """Prints values while a template is filled, and numbers their marks in reading order when it is."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self._printed: list[Links] = []

    def print(self, value: Any, links: Links) -> str:
        """Return the words for `value`; one that holds a number or is missing is followed by its mark."""
        words = self.words(value)
        return words + self.mark(links) if value is None or any(sign.isdigit() for sign in words) else words

    def words(self, value: Any) -> str:
        """Return the words for `value` without a mark, safe as Markdown."""
        match value:
            case None:
                return self.say("report-missing")
            case bool():
                return self.say("report-yes" if value else "report-no")
            case str():
                return escape(value)
            case int():
                return str(value)
            case float():
                return repr(float(f"{value:.12g}"))  # 0.1 + 0.2 is 0.3 for a reader; the source keeps every digit
        return escape(to_bytes(value).decode())

    def mark(self, links: Links) -> str:
        """Return a placeholder for the mark of these links; nothing for a value that comes from no step."""
        if not links:
            return ""
        self._printed.append(links)
        return f"\ue000{len(self._printed) - 1}\ue001"

    def finish(self, text: str) -> tuple[str, tuple[SourceLink, ...]]:
        """Return the text with numbered marks and its list of sources, and the sources as data.

        Raises:
            InvalidArguments: a value was turned into text and its mark cut off or left unprinted.
        """
        anchors: dict[tuple[tuple[str, str, str], ...], tuple[str, Links]] = {}
        seen: set[int] = set()

        def number(match: re.Match[str]) -> str:
            serial = int(match[1])
            seen.add(serial)
            links = self._printed[serial]
            key = tuple(link.place for link in links)
            return anchors.setdefault(key, (f"[^{len(anchors) + 1}]", links))[0]

        body = tidy(_TOKEN.sub(number, text))
        self._refuse_lost_marks(seen, body)
        notes = [f"{anchor}: {self._note(links)}" for anchor, links in anchors.values()]
        section = f"\n\n## {self.say('report-sources')}\n\n" + "\n".join(notes) if notes else ""
        sources = tuple(_source_link(anchor, link) for anchor, links in anchors.values() for link in _listed(links))
        return f"{body}{section}\n", sources

    def _refuse_lost_marks(self, seen: set[int], body: str) -> None:
        lost = [serial for serial in range(len(self._printed)) if serial not in seen]
        if not lost and "\ue000" not in body and "\ue001" not in body:
            return
        values = [self._printed[serial][0] for serial in lost[:_SHOWN]]
        places: list[Json] = [f"{link.step} {link.path}" for link in values]
        raise InvalidArguments(
            f"The template turns {', '.join(map(str, places)) or 'a value'} into text and then loses the mark of its "
            "source, by cutting the text or by never printing it. Use filters and comparisons on the value itself, "
            "and print it where it is joined to other text.",
            places=places,
        )

    def _note(self, links: Links) -> str:
        if len(links) > _SHOWN:
            links = _generalised(links)
        told = "; ".join(self._place(link) for link in links)
        return told if len(links) == 1 else f"{self.say('report-source-computed')} {told}"

    def _place(self, link: Link) -> str:
        if link.step == "input":
            return f"{self.say('report-source-input')} `{_code(link.path)}`"
        parts = [f"{_code(link.step)} → `{_code(link.path) or '$'}`"]
        for key, value in (("query", link.query_sha256), ("data", link.data_sha256), ("result", link.result_sha256)):
            if value is not None:
                parts.append(f"{self.say(f'report-source-{key}')} `{value[:12]}`")
        return " · ".join(parts)


def tidy(text: str) -> str:
    """Return Markdown with one blank line around headings and images, and never two, however the template ends its
    blocks. Fenced code is left as it is. Values hold no line ends, so each line is the template's."""
    lines: list[str] = []
    fenced = apart = False
    for line in text.split("\n"):
        stands_alone = not fenced and bool(_ALONE.match(line))
        if lines and lines[-1] and line and (stands_alone or apart):
            lines.append("")
        if fenced or line.strip() or (lines and lines[-1]):
            lines.append(line if fenced or line.strip() else "")
        fenced ^= bool(_FENCE.match(line))
        apart = stands_alone
    return "\n".join(lines).rstrip()


def _code(text: str) -> str:
    return re.sub(r"[`\r\n\ue000-\uf8ff]", " ", text)


def _generalised(links: Links) -> Links:
    """Return the common paths: `rows[*].n` for `rows[0].n`, `rows[1].n`, …"""
    return union(replace(link, path=re.sub(r"\[\d+\]", "[*]", link.path), value=None) for link in links)


def _listed(links: Links) -> Links:
    """Return the links as data: each one, or their common paths where a number rests on very many."""
    return links if len(links) <= _LISTED else _generalised(links)


def _source_link(anchor: str, link: Link) -> SourceLink:
    return SourceLink(
        anchor=anchor, step=link.step, path=link.path, value=link.value,
        query_sha256=link.query_sha256, data_sha256=link.data_sha256, result_sha256=link.result_sha256,
    )  # fmt: skip
