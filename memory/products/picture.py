"""The lineage of a delivery as a picture: SVG, the same bytes for the same lineage."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memory.products.lineage import Lineage, LineageStep

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _HIGH = 2.6, 0.9
"""Inches between steps."""
_COLOURS = {"own": "#1f5fbf", "step": "#f3f5f8", "delivery": "#dcebdc"}
_LONGEST = 24


def draw(lineage: Lineage) -> bytes:
    """Return the picture: sources left, what was made of them right, the delivery's own step filled."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    steps = {each.id: each for each in (*lineage.upstream, lineage.step, *lineage.downstream)}
    places = _places(lineage, steps)
    columns = max((x for x, _ in places.values()), default=0) + 1
    rows = max((y for _, y in places.values()), default=0) + 1
    with mpl.rc_context({"svg.hashsalt": "silicon", "svg.fonttype": "none"}):
        figure = Figure(figsize=(columns * _WIDE + 0.4, rows * _HIGH + 0.9))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(-0.6, columns - 0.4)
        axes.set_ylim(-rows + 0.4, 1.0)
        for before, after in lineage.edges:
            _arrow(axes, places[before], places[after])
        for name, step in steps.items():
            _box(axes, places[name], step, own=name == lineage.made_in)
        axes.text(-0.5, 0.8, lineage.goal[:90], fontsize=10, weight="bold", va="center")
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _places(lineage: Lineage, steps: Mapping[str, LineageStep]) -> dict[str, tuple[int, int]]:
    """Return column and row of each step: one column further right than the last of what it reads."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(steps)
    graph.add_edges_from(lineage.edges)
    places: dict[str, tuple[int, int]] = {}
    columns = list(nx.topological_generations(graph))
    for column in range(len(columns) - 1, -1, -1):  # right to left, each beside what it goes into: few lines cross

        def beside(name: str) -> tuple[float, str, str]:
            rows = [places[each][1] for each in graph.successors(name)]
            return (sum(rows) / len(rows) if rows else 0.0, steps[name].step, name)

        for row, name in enumerate(sorted(columns[column], key=beside)):
            places[name] = (column, row)
    return places


def _arrow(axes: Axes, before: tuple[int, int], after: tuple[int, int]) -> None:
    axes.annotate(
        "", xy=(after[0] - 0.31, -after[1]), xytext=(before[0] + 0.31, -before[1]),
        arrowprops={"arrowstyle": "-|>", "color": "#8a94a6", "lw": 0.9, "connectionstyle": "arc3,rad=0.04"},
    )  # fmt: skip


def _box(axes: Axes, place: tuple[int, int], step: LineageStep, *, own: bool) -> None:
    lines = [_short(step.step), _short(step.employee), _short(step.use)]
    if step.metric:
        lines.append(_short(f"{step.metric} v{step.metric_version[:8]}"))
    elif step.deliveries:
        lines.append(f"delivered {step.deliveries[0].ulid[-6:]}")
    fill = _COLOURS["own"] if own else _COLOURS["delivery"] if step.deliveries else _COLOURS["step"]
    axes.text(
        place[0], -place[1], "\n".join(lines), ha="center", va="center", fontsize=7,
        color="white" if own else "#1c2430",
        bbox={"boxstyle": "round,pad=0.4", "facecolor": fill, "edgecolor": "#8a94a6", "linewidth": 0.8},
    )  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
