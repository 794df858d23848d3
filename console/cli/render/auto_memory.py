"""Auto memory, as lines."""

from __future__ import annotations

from rich.text import Text

from console.cli.output import Output
from console.cli.words import one_line
from console.views_auto_memory import AutoMemoryPage, ShelfTold


def page_lines(page: AutoMemoryPage, output: Output) -> list[Text]:
    """Return a page with its heading."""
    say = output.say
    lines = [Text(say(f"memory-page-{page.kind}"), style="bold"), *map(Text, page.text.splitlines())]
    lines.append(Text(say("memory-page-rests", count=len(page.sources), left=page.left_out), style="dim"))
    return lines


def shelf_line(shelf: ShelfTold, output: Output) -> list[Text]:
    """Return what came of one shelf."""
    say = output.say
    holder = say(f"memory-holder-{shelf.holder.kind}", name=shelf.holder.name)
    within = " / ".join(filter(None, (shelf.domain, shelf.project)))
    told = say(f"memory-shelf-{shelf.outcome}", lines=shelf.lines, requests=shelf.requests, tokens=shelf.tokens)
    lines = [Text.assemble(holder, (f"  {within}" if within else "", "cyan"), f"  {told}")]
    return [*lines, *(Text(f"    {one_line(fault, 300)}", style="yellow") for fault in shelf.faults)]
