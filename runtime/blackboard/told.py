"""The blackboard as a model is told it: what others of the same execution found, as far as there is room for it."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.blackboard.port import Blackboard, Entry
from runtime.canonical import clean, to_text
from runtime.context.blocks import BOARD, About
from runtime.context.parts import Part
from runtime.settings.context import ContextSettings

_EACH = 4
"""So many entries share the room: a value that takes more than its part of it is named without being shown."""


class ToldBoard:
    """Entries that other employees or other orders wrote; a model's own stand in its conversation."""

    name = BOARD
    moves = True

    def __init__(self, board: Blackboard, settings: ContextSettings) -> None:
        self._board = board
        self._most = settings.board_chars

    async def parts(self, about: About) -> Sequence[Part]:
        """Return one part: the entries by key, newest writers last; nothing where there are none."""
        if self._most == 0:
            return ()
        entries = (await self._board.entries()).values()
        lines = [_line(entry, self._most // _EACH) for entry in entries]
        kept: list[str] = []
        left = self._most
        for number, line in enumerate(lines):
            left -= len(line) + 1
            if left < 0:
                kept.append(f"- … {len(lines) - number} more keys; read one with blackboard.read")
                break
            kept.append(line)
        if not kept:
            return ()
        return (Part(BOARD, "\n".join(["On the blackboard of this execution:", *kept]), "the blackboard"),)


def _line(entry: Entry, most: int) -> str:
    text = to_text(clean(entry.value))
    shown = text if len(text) <= most else f"{len(text):,} characters; read it with blackboard.read"
    return f"- {entry.key} ({entry.employee}, step {entry.step}): {shown}"
