"""Memories as lines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from console.cli.output import Output
from console.cli.render.facts import Pair, facts
from console.cli.words import moment, one_line
from console.views_memories import MemoryChange, MemoryHit, MemoryRow, MemoryWritten
from contracts import MemoryState

_MARKS = {
    MemoryState.ACTIVE: ("● ", "green"), MemoryState.SUPERSEDED: ("↷ ", "dim"), MemoryState.DISPUTED: ("? ", "yellow"),
    MemoryState.ARCHIVED: ("▫ ", "dim"), MemoryState.WITHDRAWN: ("✗ ", "dim"), MemoryState.ERASED: ("✗ ", "red"),
}  # fmt: skip
_LONGEST = 300


def memory_lines(row: MemoryRow, output: Output) -> list[Text]:
    """Return a memory: what it says, whose it is, and how it stands."""
    say, record = output.say, row.record
    stands = [
        say(f"memory-holder-{record.holder.kind.value}", name=record.holder.name),
        say(f"memory-class-{record.memory_class.value}"),
        say("memory-importance", value=round(row.importance, 2)),
        say("memory-confidence", value=round(record.confidence, 2)),
    ]
    if record.domain:
        stands.append(record.domain)
    if record.state is not MemoryState.ACTIVE:
        stands.insert(0, say(f"memory-state-{record.state.value}"))
    return [
        Text.assemble(_MARKS[record.state], one_line(record.text, _LONGEST), (f"  {record.memory_id.ulid}", "dim")),
        Text(f"  {' · '.join(stands)}", style="dim"),
    ]


def memory_detail(row: MemoryRow, history: Sequence[MemoryChange], output: Output) -> list[RenderableType]:
    """Return a memory with everything that is known of it, and what happened to it."""
    say, record, source = output.say, row.record, row.record.source
    came_from = source.conversation or source.execution_id or source.said_by or ""
    pairs: list[Pair] = [
        (say("memory-version"), f"{record.version}, {record.written_by}, {moment(record.changed_at)}"),
        (say("memory-source"), f"{came_from}{f' #{source.turn}' if source.turn else ''}"),
        (say("memory-valid"), _period(row)),
        (say("memory-read"), moment(record.accessed_at)),
    ]
    if record.subject:
        pairs.append((say("memory-about"), " · ".join(filter(None, (record.subject, record.relation, record.value)))))
    if record.entities:
        pairs.append((say("memory-entities"), ", ".join(record.entities)))
    for name, other in (
        ("supersedes", record.supersedes), ("superseded-by", record.superseded_by), ("disputes", record.disputes)
    ):  # fmt: skip
        if other is not None:
            pairs.append((say(f"memory-{name}"), other.ulid))
    lines: list[RenderableType] = [*memory_lines(row, output), facts(pairs)]
    for each in history:
        why = f"  {one_line(each.reason, _LONGEST)}" if each.reason else ""
        lines.append(Text(f"  {each.position}  {each.event.removeprefix('memory.')}  {each.by}{why}", style="dim"))
    return lines


def hit_lines(hit: MemoryHit, output: Output) -> list[Text]:
    """Return a memory that was found, with what its score is made of."""
    parts = "  ".join(f"{output.say(f'memory-part-{name}')} {value:.2f}" for name, value in hit.parts.items() if value)
    terms = ", ".join(f"{word} {part:.1f}" for word, part in hit.terms.items())
    return [
        Text.assemble((f"{hit.score:.2f}  ", "bold"), *memory_lines(hit.memory, output)[:1]),
        Text(f"      {parts}", style="dim"),
        *([Text(f"      {terms}", style="dim")] if terms else []),
    ]


def written_lines(written: MemoryWritten, output: Output) -> list[Text]:
    """Return what became of something that was said."""
    other = f" ({written.other.ulid})" if written.other else ""
    became = output.say(f"memory-became-{written.became.replace('_', '-')}")
    head = Text(f"{became}: {written.why}{other}")
    return [head, *(memory_lines(written.memory, output) if written.memory else [])]


def _period(row: MemoryRow) -> str:
    until = row.record.valid_until
    return f"{moment(row.record.valid_from)} – {moment(until) if until else ''}"
