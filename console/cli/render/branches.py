"""A tree on a terminal: one aligned line for each branch, notes below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from console.cli.render.marks import icon, word
from console.cli.visible import visible
from console.cli.words import seconds
from runtime.texts import Say


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of the tree and what hangs below it."""

    state: str
    label: str
    detail: str = ""
    seconds: float | None = None
    notes: tuple[str, ...] = ()
    children: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    guide: str
    branch: Branch
    below: str
    """The guide of the notes."""


def tree(branches: Sequence[Branch], say: Say, width: int) -> list[Text]:
    """Return the lines of the tree, none wider than `width`; states and seconds stand in columns of their own."""
    rows = list(_rows(branches, "", top=True))
    words = [word(row.branch.state, say) for row in rows]
    times = ["" if row.branch.seconds is None else seconds(row.branch.seconds) for row in rows]
    heads = [_head(row) for row in rows]
    word_width = max((each.cell_len for each in words), default=0)
    time_width = max((len(each) for each in times), default=0)
    room = width - word_width - time_width - 4
    head_width = min(max((head.cell_len for head in heads), default=0), room)
    lines: list[Text] = []
    for row, head, state, time in zip(rows, heads, words, times, strict=True):
        head.truncate(head_width, overflow="ellipsis", pad=True)
        state.pad_right(word_width - state.cell_len)
        line = Text.assemble(head, "  ", state, "  ", (time.rjust(time_width), "dim"))
        line.rstrip()
        lines.append(line)
        lines += [_note(row.below, note, width) for note in row.branch.notes]
    return lines


def _rows(branches: Sequence[Branch], guide: str, *, top: bool = False) -> Iterator[_Row]:
    for number, branch in enumerate(branches):
        last = number == len(branches) - 1
        here = "" if top else "└─ " if last else "├─ "
        rest = "" if top else "   " if last else "│  "
        stem = "│  " if branch.children else "   "
        yield _Row(guide + here, branch, guide + rest + stem)
        yield from _rows(branch.children, guide + rest)


def _head(row: _Row) -> Text:
    head = Text.assemble((row.guide, "dim"), icon(row.branch.state), " ", visible(row.branch.label))
    if row.branch.detail:
        head.append(f"  {visible(row.branch.detail)}", style="dim")
    return head


def _note(guide: str, note: str, width: int) -> Text:
    line = Text(guide + visible(note), style="dim")
    line.truncate(width, overflow="ellipsis")
    return line
