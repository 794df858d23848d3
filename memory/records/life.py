"""The life of a memory: one table, from which the diagram in the documentation is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from contracts import MemoryState
from memory.records.errors import MemoryPast


class Move(StrEnum):
    """What may happen to a memory."""

    CORRECT = "correct"
    """It says something else from now on."""
    REINFORCE = "reinforce"
    """The same was said again."""
    READ = "read"
    """A search gave it to somebody."""
    FADE = "fade"
    """A daily cycle found it nearly forgotten."""
    SUPERSEDE = "supersede"
    """Something newer holds in its place."""
    REINSTATE = "reinstate"
    """What superseded it was taken back."""
    REOPEN = "reopen"
    """Brought back, it waits for a decision again: it contradicts something."""
    CONFIRM = "confirm"
    """A person decided for it."""
    ARCHIVE = "archive"
    WITHDRAW = "withdraw"
    RESTORE = "restore"
    ERASE = "erase"


ACTIVE, SUPERSEDED, DISPUTED = MemoryState.ACTIVE, MemoryState.SUPERSEDED, MemoryState.DISPUTED
ARCHIVED, WITHDRAWN, ERASED = MemoryState.ARCHIVED, MemoryState.WITHDRAWN, MemoryState.ERASED

LIFE: Mapping[tuple[MemoryState, Move], MemoryState] = {
    (ACTIVE, Move.CORRECT): ACTIVE,
    (ACTIVE, Move.REINFORCE): ACTIVE,
    (ACTIVE, Move.READ): ACTIVE,
    (ACTIVE, Move.FADE): ACTIVE,
    (ACTIVE, Move.SUPERSEDE): SUPERSEDED,
    (ACTIVE, Move.ARCHIVE): ARCHIVED,
    (ACTIVE, Move.WITHDRAW): WITHDRAWN,
    (ACTIVE, Move.ERASE): ERASED,
    (SUPERSEDED, Move.REINSTATE): ACTIVE,
    (SUPERSEDED, Move.ERASE): ERASED,
    (DISPUTED, Move.CORRECT): DISPUTED,
    (DISPUTED, Move.REINFORCE): DISPUTED,
    (DISPUTED, Move.CONFIRM): ACTIVE,
    (DISPUTED, Move.WITHDRAW): WITHDRAWN,
    (DISPUTED, Move.ERASE): ERASED,
    (ARCHIVED, Move.RESTORE): ACTIVE,
    (ARCHIVED, Move.WITHDRAW): WITHDRAWN,
    (ARCHIVED, Move.ERASE): ERASED,
    (WITHDRAWN, Move.RESTORE): ACTIVE,
    (WITHDRAWN, Move.REOPEN): DISPUTED,
    (WITHDRAWN, Move.ERASE): ERASED,
}
"""Every move there is. Nothing leads out of erased. What is disputed becomes active by a person's decision or,
where it is a fact, once it was said so often that it outweighs what it contradicts."""


def state_after(state: MemoryState, move: Move, memory: str) -> MemoryState:
    """Return where the move leads; raise MemoryPast where the table has no such row."""
    try:
        return LIFE[state, move]
    except KeyError:
        allowed = ", ".join(sorted(each.value for at, each in LIFE if at is state)) or "nothing"
        raise MemoryPast(
            f"{memory} is {state.value}, so that it cannot be asked to {move.value}; what can be done: {allowed}.",
            id=memory, state=state.value, move=move.value,
        ) from None  # fmt: skip


def diagram() -> str:
    """Return the table as a Mermaid diagram, moves that change no state left out."""
    lines = ["stateDiagram-v2", "    [*] --> active: write", "    [*] --> disputed: write"]
    lines += [f"    {at} --> {to}: {move}" for (at, move), to in LIFE.items() if at is not to]
    return "\n".join(lines)
