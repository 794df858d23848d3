"""CURRENT.md: what holds for somebody today, in one page. Derived: it can be deleted, and is made again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from contracts import HolderKind, MemoryClass, MemoryHolder, MemoryRecord
from memory.files.places import CURRENT, current_file, holder_folders, read_text, write_private
from memory.records.decay import importance_now
from memory.records.port import Memories, MemoryFilter
from runtime.settings import MemorySettings

_SHOWN = {
    MemoryClass.RULE: "Rules",
    MemoryClass.DECISION: "Decisions",
    MemoryClass.PREFERENCE: "Preferences",
    MemoryClass.FACT: "Facts",
}
_NOTE = "<!-- Made from the memories that hold; edits are lost. `silicon memory rebuild` makes it again. -->"


async def write_current(
    memories: Memories,
    holders: Sequence[MemoryHolder],
    root: Path,
    now: datetime,
    settings: MemorySettings,
    *,
    goals: Sequence[str] = (),
) -> int:
    """Write the page of each of these holders, who are all that there are; return how many there are.

    Pages of others are taken away: nothing holds for them any more. `goals` are those that the business works on.
    """
    wanted: dict[Path, str] = {}
    for holder in holders:
        records = await memories.find(MemoryFilter(classes=tuple(_SHOWN), holders=(holder,), every_domain=True))
        of_holder = goals if holder.kind is HolderKind.BUSINESS else ()
        page = current_page(holder, records, now, settings, goals=of_holder)
        if page is not None:
            wanted[current_file(root, holder)] = page
    for path in (root / CURRENT, *(folder / CURRENT for folder in holder_folders(root))):
        if path not in wanted:
            path.unlink(missing_ok=True)
    for path, page in wanted.items():
        if read_text(path) != page:
            write_private(path, page)
    return len(wanted)


def current_page(
    holder: MemoryHolder, records: Sequence[MemoryRecord], now: datetime, settings: MemorySettings, *,
    goals: Sequence[str] = (),
) -> str | None:  # fmt: skip
    """Return the page, the same for the same memories on the same day; None where nothing holds."""
    strong = [(importance_now(each, now, settings), each) for each in records]
    strong = [(importance, each) for importance, each in strong if importance >= settings.inject_from]
    if not strong and not goals:
        return None
    lines = [f"# What holds for {_line(holder.name)}", "", f"{now.astimezone(UTC):%Y-%m-%d}", "", _NOTE]
    strong.sort(key=lambda pair: (pair[1].domain or "", -pair[0], pair[1].memory_id))
    for class_, title in _SHOWN.items():
        told = [each for _, each in strong if each.memory_class is class_]
        if told:
            lines += ["", f"## {title}", ""]
            lines += [f"- {f'({each.domain}) ' if each.domain else ''}{_line(each.text)}" for each in told]
    if goals:
        lines += ["", "## Goals in progress", "", *(f"- {_line(goal)}" for goal in goals)]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    """Return text on one line that ends no comment and begins none."""
    return " ".join(text.split()).replace("<!--", "\\<!--")
