"""The versions of a metric as lines."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.text import Text

from console.cli.words import moment
from console.views_metrics import MetricChangeRow, MetricVersionRow
from contracts import Json
from runtime.texts import Say

SHOWN = 12
"""Characters of a hash; all of it stands in --json."""
_LONGEST = 200


def version_lines(versions: Sequence[MetricVersionRow], say: Say) -> list[Text]:
    """Return every version with what changed, the newest first."""
    lines: list[Text] = []
    for version in reversed(versions):
        head = say(f"metrics-{version.entry}", at=moment(version.in_force_since), by=version.read_by)
        lines.append(Text.assemble(((version.version or "")[:SHOWN].ljust(SHOWN), "bold"), "  ", head))
        lines += [Text(f"  {_change(change)}") for change in version.changed]
        if version.entry == "changed" and version.sensors:
            told = "metrics-begin-anew" if version.recalibrates else "metrics-go-on"
            lines.append(Text(f"  {say(told, sensors=', '.join(version.sensors))}", style="dim"))
    return lines


def _change(change: MetricChangeRow) -> str:
    return f"{change.field}: {_shown(change.before)} → {_shown(change.after)}"


def _shown(value: Json) -> str:
    if value is None:
        return "–"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
