"""What was copied, taken away or held, as people read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from console.cli.form import to_data
from console.cli.words import NO_BREAK
from runtime.keeping import BackupMade, Hold, Pruned
from runtime.texts import Say

SHOWN = 10
"""Faults or executions that are listed."""
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """Return a number of bytes with its unit: `512 B`, `1.5 MiB`."""
    value, unit = float(count), 0
    while value >= 1_024 and unit < len(_UNITS) - 1:
        value, unit = value / 1_024, unit + 1
    digits = 0 if unit == 0 or value >= 100 else 1
    return f"{value:.{digits}f}{NO_BREAK}{_UNITS[unit]}"


def backup_lines(made: BackupMade, say: Say) -> Iterator[RenderableType]:
    """Yield what became of a backup."""
    yield Text.assemble(
        ("✓ ", "green"), say("backup-made", file=made.path, events=made.position, size=size(made.bytes))
    )
    for fault in made.faults[:SHOWN]:
        place = fault.stream or say("audit-ledger")
        yield Text.assemble(("  ✗ ", "red"), (place, "bold"), "  ", fault.what)
    if made.faults:
        yield Text.assemble(("✗ ", "red"), say("backup-faults", count=len(made.faults)))


def pruned_lines(pruned: Pruned, say: Say, *, dry: bool, days: float) -> Iterator[RenderableType]:
    """Yield what was taken away, or would be, and what was left and why."""
    if not days:
        yield Text(say("prune-keeps-all"))
    key = "prune-would" if dry else "prune-did"
    went = say(key, executions=len(pruned.executions), events=pruned.events)
    yield Text.assemble(("✓ ", "green"), went)
    for execution_id in pruned.executions[:SHOWN]:
        yield Text(f"  {execution_id}", style="dim")
    if len(pruned.executions) > SHOWN:
        yield Text(f"  {say('summary-more', count=len(pruned.executions) - SHOWN)}", style="dim")
    if pruned.blobs or pruned.fragments:
        more = say("prune-beside", blobs=pruned.blobs, size=size(pruned.blob_bytes), fragments=pruned.fragments)
        yield Text(f"  {more}")
    for left, why in ((pruned.held, "prune-held"), (pruned.in_use, "prune-in-use")):
        if left:
            yield Text(f"  {say(why, count=len(left))}")
    if pruned.compacted is False and pruned.free_bytes is not None:
        yield Text(f"  {say('prune-not-compacted', size=size(pruned.free_bytes))}")
    elif pruned.free_bytes:
        yield Text(f"  {say('prune-free', size=size(pruned.free_bytes))}")


def pruned_data(pruned: Pruned, *, dry: bool) -> dict[str, Any]:
    """Return the JSON form of what was taken away, or would be."""
    return {"dry_run": dry, **to_data(pruned)}


def hold_data(hold: Hold) -> dict[str, Any]:
    """Return the JSON form of a hold."""
    return dict(to_data(hold))
