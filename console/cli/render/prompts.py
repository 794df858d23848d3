"""Past prompts, part by part: where each came from, in which form it stands, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from console.cli.output import Output
from console.cli.words import brief_hash, one_line
from console.views_prompts import PromptMessage, PromptPart, ShownPrompt

_ORIGIN = 100
"""Letters of an origin that are shown."""


def prompt_lines(shown: ShownPrompt, output: Output, *, whole: bool) -> Iterator[RenderableType]:
    """Yield one request: a line for each part, and with `whole` the text of each."""
    say = output.say
    size = sum(part.size for message in shown.messages for part in message.parts)
    told = say("prompts-size", answer=shown.answer, size=size, tokens=shown.tokens_in)
    yield Text.assemble((shown.name, "bold"), f"  {told}", (f"  {shown.order_id} · {shown.at:%H:%M:%S}", "dim"))
    if not shown.same:
        yield Text(f"  {say('prompts-differs')}", style="yellow")
    for message in shown.messages:
        yield from _message(message, whole=whole)
    for each in shown.left_out:
        words = say("prompts-left-out", origin=one_line(each.origin, _ORIGIN), why=each.why, size=each.size)
        yield Text(f"  – {words}", style="dim")
    yield Text(f"  {say('prompts-tools', tools=', '.join(shown.tools))}", style="dim")


def _message(message: PromptMessage, *, whole: bool) -> Iterator[RenderableType]:
    calls = f" → {', '.join(message.calls)}" if message.calls else ""
    yield Text(f"  {message.role}{calls}")
    for part in (each for each in message.parts if each.size):  # an answer of calls has no words
        yield _part(part)
        if whole:
            yield from (Text(f"      {line}") for line in part.text.split("\n"))


def _part(part: PromptPart) -> Text:
    ref = f" {brief_hash(part.ref)}" if part.ref else ""
    pinned = " ⚑" if part.pinned else ""
    line = f"    {part.size:>7,}  {part.block:<13} {part.form:<8}"
    return Text.assemble(line, one_line(part.origin, _ORIGIN), (f"{ref}{pinned}", "dim"))
