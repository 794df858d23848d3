"""Charts in a report: SVG files that are the same, byte for byte, for the same rows."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from agents.employee.report.sources import Page
from agents.employee.report.table import field_of, row_links
from agents.employee.report.traced import plain
from agents.employee.report.words import escape, escape_html
from runtime.capabilities.port import NewFile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

Named: TypeAlias = str | tuple[str, str]
"""A field, or a field with its heading."""

KINDS = ("bar", "line")
COLOURS = ("#1f5fa8", "#c2410c", "#2f7d4f", "#7a3e9d", "#8a6d00", "#5b6470")
"""Distinct for colour-blind readers, at least 4.5:1 on white."""
FONTS = "'DejaVu Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"
_TICKS = 12
_LETTERS = 75
"""Letters that fit under the chart in a row; with more, labels are slanted."""
_DRAWING = threading.Lock()
"""matplotlib keeps its settings in one global table; one chart is drawn at a time."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What a chart shows."""

    kind: str
    labels: Sequence[str]
    series: Mapping[str, Sequence[float]]
    """Name → values, as many as there are labels; NaN is a gap."""
    title: str
    x: str
    unit: str = ""


@dataclass(slots=True)
class Charts:
    """The charts of one report, in the order in which the template draws them."""

    page: Page
    files: list[NewFile] = field(default_factory=list)

    def chart(  # noqa: PLR0917 - templates read best in this order
        self, kind: str, rows: Any, x: Named, y: Named | list[Named], title: Any, unit: str = ""
    ) -> str:
        """Draw `y` over `x` as `bar` or `line` and return the image's Markdown, with its mark.

        A field is its name, or `(name, heading)`; `y` is one or a list of them. A missing value is a gap. `unit` is
        written on the axis.
        """
        if kind not in KINDS:
            raise ValueError(f"there is no chart {kind!r}; there is {' and '.join(KINDS)}")
        listed = list(rows)
        links = row_links(rows, listed)
        if not listed:
            return self.page.say("report-no-rows") + self.page.mark(links)
        x_field, x_heading = _named(x)
        labels = [_label(self.page, plain(field_of(row, x_field))) for row in listed]
        series = {
            heading: [_number(name, plain(field_of(row, name))) for row in listed]
            for name, heading in map(_named, y if isinstance(y, list) else [y])
        }
        picture = Picture(kind, labels, series, str(plain(title)), x_heading, unit)
        name = f"chart-{len(self.files) + 1}.svg"
        self.files.append(NewFile(name, "image/svg+xml", draw(picture)))
        return f"![{escape(picture.title)}]({name}){self.page.mark(links)}"


def draw(picture: Picture) -> bytes:
    """Return the chart as SVG: no date, no random names, letters as text, a title for screen readers."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {
        "svg.hashsalt": "silicon-org", "svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": 10,
    }  # fmt: skip
    with _DRAWING, mpl.rc_context(settings):
        figure = Figure(figsize=(8, 4.2), layout="tight")
        axes = figure.add_subplot()
        texts = _Texts()
        _plot(axes, picture)
        _dress(axes, texts, picture)
        target = io.BytesIO()
        nothing = dict.fromkeys(("Date", "Creator", "Type", "Format"))
        figure.savefig(target, format="svg", metadata=nothing)
    return _accessible(texts.restore(target.getvalue().decode()), picture.title).encode()


class _Texts:
    """Words of the chart: drawn as stand-ins that the bundled font can measure, then put back into the SVG."""

    def __init__(self) -> None:
        self._words: list[str] = []

    @staticmethod
    def stand_in(words: str) -> str:
        return "".join(sign if " " <= sign <= "~" else "M" for sign in words) or " "

    def put(self, text: Text, words: str) -> None:
        text.set_parse_math(False)
        text.set_text(self.stand_in(words))
        text.set_gid(f"words-{len(self._words)}")
        self._words.append(words)

    def restore(self, svg: str) -> str:
        def fill(match: re.Match[str]) -> str:
            return f"{match[1]}{escape_html(self._words[int(match[2])])}</text>"

        return re.sub(r'(<g id="words-(\d+)">.*?<text [^>]*>).*?</text>', fill, svg, flags=re.DOTALL)


def _plot(axes: Axes, picture: Picture) -> None:
    for number, values in enumerate(picture.series.values()):
        colour = COLOURS[number % len(COLOURS)]
        if picture.kind == "line":
            axes.plot(range(len(values)), values, color=colour, marker="o", markersize=3, linewidth=1.6)
        else:
            width = 0.8 / len(picture.series)
            places = [at - 0.4 + width * (number + 0.5) for at in range(len(values))]
            axes.bar(places, values, width=width, color=colour)


def _dress(axes: Axes, texts: _Texts, picture: Picture) -> None:
    names = list(picture.series)
    texts.put(axes.set_title("title", loc="left"), _short(picture.title, 90))
    texts.put(axes.set_xlabel("x"), picture.x)
    texts.put(axes.set_ylabel("y"), picture.unit or (names[0] if len(names) == 1 else ""))
    _label_ticks(axes, texts, picture.labels)
    axes.grid(axis="y", color="#d7dce1", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if len(names) > 1:
        drawn: list[Any] = list(axes.containers or axes.lines)
        legend = axes.legend(drawn, ["name"] * len(names), frameon=False)
        for text, name in zip(legend.get_texts(), names, strict=True):
            texts.put(text, name)


def _label_ticks(axes: Axes, texts: _Texts, labels: Sequence[str]) -> None:
    every = -(-len(labels) // _TICKS)
    at = list(range(0, len(labels), every))
    shown = [_short(labels[position], 18) for position in at]
    axes.set_xticks(at, [texts.stand_in(words) for words in shown])
    slanted = max(map(len, shown)) > _LETTERS // len(shown)
    for tick, words in zip(axes.get_xticklabels(), shown, strict=True):
        texts.put(tick, words)
        if slanted:
            tick.set(rotation=35, ha="right", rotation_mode="anchor")


def _accessible(svg: str, title: str) -> str:
    """Give the picture a role and a title, and fonts for scripts that the bundled font lacks."""
    svg = svg.replace("'DejaVu Sans'", FONTS)
    opening = re.search(r"<svg [^>]*>", svg)
    assert opening is not None, "matplotlib wrote no svg element"
    head = opening[0][:-1] + ' role="img" aria-labelledby="chart-title">'
    return (
        f'{svg[: opening.start()]}{head}\n <title id="chart-title">{escape_html(title)}</title>{svg[opening.end() :]}'
    )


def _named(given: Named) -> tuple[str, str]:
    """Return a field and its heading, which is the field's name where none is given."""
    parts = [given] if isinstance(given, str) else list(given)
    words = [str(plain(part)) for part in parts]
    return words[0], words[-1]


def _label(page: Page, value: Any) -> str:
    return page.say("report-missing") if value is None else str(value)


def _number(name: str, value: Any) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"`{name}` is {value!r} in one row; a chart draws numbers only")
    return float(value)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
