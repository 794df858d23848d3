"""Memories in files, as lines."""

from __future__ import annotations

from rich.text import Text

from console.cli.output import Output
from console.cli.words import one_line
from console.views_memory_files import EntryTaken, FilesTaken, FilesWritten

_STYLES = {"conflict": "yellow", "fault": "red", "missing": "yellow", "disputed": "yellow", "known": "dim"}
_BOTH = ("conflict", "known", "changed")
_LONGEST = 300


def written_files(written: FilesWritten, output: Output) -> list[Text]:
    """Return what was written where, and what was left alone."""
    say = output.say
    lines = [Text(f"  {path}") for path in written.written]
    lines.append(Text(say("memory-exported", memories=written.memories, files=len(written.written), same=written.same)))
    lines.append(Text(str(written.folder), style="dim"))
    lines += [Text(say("memory-export-edited", file=str(path)), style="yellow") for path in written.edited]
    return lines


def taken_files(taken: FilesTaken, output: Output) -> list[Text]:
    """Return what became of each entry that somebody edited, with file and line."""
    lines = [line for entry in taken.entries for line in _entry(entry, output)]
    lines.append(Text(output.say("memory-import-untouched", count=taken.untouched), style="dim"))
    if taken.counts.get("missing"):
        lines.append(Text(output.say("memory-import-missing", count=taken.counts["missing"])))
    return lines


def _entry(entry: EntryTaken, output: Output) -> list[Text]:
    place = f"{entry.file}:{entry.line}" if entry.line else entry.file
    named = f"  {entry.memory_id.ulid}" if entry.memory_id else ""
    became = output.say(f"memory-taken-{entry.became}")
    lines = [Text.assemble((f"{became}  ", _STYLES.get(entry.became, "green")), place, (named, "dim"))]
    if entry.why:
        lines.append(Text(f"    {entry.why}"))
    if entry.edited:
        lines.append(Text(f"    {output.say('memory-taken-edited')}: {one_line(entry.edited, _LONGEST)}", style="dim"))
    if entry.stands and (entry.became in _BOTH or not entry.edited):
        stands = "memory-taken-before" if entry.became == "changed" else "memory-taken-stands"
        lines.append(Text(f"    {output.say(stands)}: {one_line(entry.stands, _LONGEST)}", style="dim"))
    return lines
