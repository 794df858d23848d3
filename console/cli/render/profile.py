"""What is known of a person, as lines."""

from __future__ import annotations

from rich.text import Text

from console.cli.output import Output
from console.cli.words import one_line
from console.views_profile import PersonErasedView, ProfileView, TraitRow

_REASONS = 3


def profile_lines(view: ProfileView, output: Output) -> list[Text]:
    """Return what is known, by depth, each with why."""
    say = output.say
    if not view.traits:
        return [Text(say("profile-none", person=view.person))]
    lines = []
    for depth in dict.fromkeys(row.depth for row in view.traits):
        lines.append(Text(say(f"profile-depth-{depth}"), style="bold"))
        lines += [_trait(row, output) for row in view.traits if row.depth == depth]
    if view.guidance:
        lines += [Text(say("profile-guidance"), style="bold"), *map(Text, view.guidance.splitlines())]
    return lines


def erased_lines(view: PersonErasedView, output: Output) -> list[Text]:
    """Return what was erased, or would be, and what stays."""
    say = output.say
    counts = {
        "memories": view.memories, "conversations": view.conversations, "turns": view.turns, "profile": view.profile,
        "files": view.files, "blobs": view.blobs, "vectors": view.vectors,
    }  # fmt: skip
    lines = [Text(say("erasure-done" if view.done else "erasure-would", person=view.person, **counts))]
    lines.append(Text(say("erasure-stays", executions=view.executions, cards=view.cards), style="dim"))
    if view.named_in:
        named = ", ".join(each.ulid for each in view.named_in)
        lines.append(Text(say("erasure-named", count=len(view.named_in), ids=one_line(named, 500)), style="yellow"))
    if not view.done:
        lines.append(Text(say("erasure-sure")))
    return lines


def _trait(row: TraitRow, output: Output) -> Text:
    if row.by_person:
        why = output.say("profile-own")
    else:
        seen = ", ".join(f"{each.why} {each.conversation} #{each.turn}" for each in row.because[:_REASONS])
        more = f", +{len(row.because) - _REASONS}" if len(row.because) > _REASONS else ""
        why = f"{row.weight:+.2f}  {seen}{more}"
    return Text.assemble(f"  {row.trait}  ", (row.value, "cyan"), (f"  {why}", "dim"))
