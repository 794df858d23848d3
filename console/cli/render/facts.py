"""Facts in pairs: quiet labels in one column, values in the next."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from console.cli.output import cleaned
from console.cli.visible import visible

Pair = tuple[str, str | Text]


def label_width(labels: Sequence[str]) -> int:
    """Return the width of the column that holds these labels."""
    return max((cell_len(visible(label)) for label in labels), default=0)


def padded(label: str, width: int) -> str:
    """Return a label that takes `width` cells; Chinese letters take two."""
    return label + " " * (width - cell_len(label))


def facts(pairs: Sequence[Pair], *, indent: int = 2, width: int | None = None) -> RenderableType:
    """Return pairs below each other; long values wrap beside their label."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True, min_width=(width or label_width([pair[0] for pair in pairs])) + indent)
    grid.add_column(overflow="fold")
    for label, value in pairs:
        grid.add_row(" " * indent + visible(label), cleaned(value))
    return grid


def table(
    headings: Sequence[str], rows: Sequence[Sequence[str | Text]], *, right: Sequence[int] = ()
) -> RenderableType:
    """Return rows below headings, without lines; columns in `right` are aligned right."""
    made = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(cleaned, row))
    return made
