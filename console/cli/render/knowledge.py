"""Knowledge folders, as lines."""

from __future__ import annotations

from rich.text import Text

from console.cli.output import Output
from console.views_knowledge import KnowledgeLinted, KnowledgePlaced


def lint_lines(linted: KnowledgeLinted, output: Output) -> list[Text]:
    """Return what was found, the grave first, each with file and line and how to mend it."""
    lines = []
    for each in sorted(linted.findings, key=lambda found: not found.grave):
        place = f"{each.file}:{each.line}" if each.line else each.file
        lines.append(Text.assemble((place, "red" if each.grave else "yellow"), f"  {each.what}"))
        if each.hint:
            lines.append(Text(f"    {each.hint}", style="dim"))
    if linted.mended:
        lines.append(Text(output.say("knowledge-mended", count=linted.mended)))
    grave = sum(each.grave for each in linted.findings)
    said = output.say(
        "knowledge-linted", faults=grave, listed=len(linted.findings) - grave, entries=linted.entries,
        bodies=linted.bodies,
    )  # fmt: skip
    return [*lines, Text(said)]


def placed_lines(placed: KnowledgePlaced, output: Output) -> list[Text]:
    """Return where it belongs, and where it stands now."""
    say = output.say
    lines = [Text(say(f"knowledge-layer-{placed.layer}", why=placed.why))]
    if placed.path:
        lines.append(Text(say("knowledge-written", path=placed.path)))
    if placed.index:
        lines.append(Text(say("knowledge-entry", path=placed.index), style="dim"))
    return lines
