"""The life of a card: one table, from which the diagram in the documentation is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from governance.errors import IllegalTransition


class CardState(StrEnum):
    """Where a card stands."""

    OPEN = "open"
    ESCALATED = "escalated"
    """Open still, with others and for the last time."""
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    """A newer card about the same took its place."""
    EXECUTED = "executed"
    """All that was approved took place."""
    EXECUTION_FAILED = "execution_failed"
    """Something of it did not, or nobody knows."""
    UNDONE = "undone"
    """What took place was taken back."""


class Move(StrEnum):
    """What may happen to a card."""

    VOTE = "vote"
    """A yes that does not reach the quorum."""
    APPROVE = "approve"
    """The yes that does, or a mode that lets an option pass by itself."""
    DENY = "deny"
    EDIT = "edit"
    """An option gets other arguments; whoever voted before is asked again."""
    JOIN = "join"
    """Another execution that wants exactly the same waits for it as well."""
    REMIND = "remind"
    ESCALATE = "escalate"
    EXPIRE = "expire"
    WITHDRAW = "withdraw"
    SUPERSEDE = "supersede"
    USE = "use"
    """An effect takes place on the strength of it."""
    EXECUTE = "execute"
    FAIL = "fail"
    ASK_BACK = "ask_back"
    """Somebody wants it taken back."""
    TAKE_BACK = "take_back"
    """An effect that takes it back takes place."""
    UNDO = "undo"
    REVIEW = "review"
    """Somebody says afterwards whether it was right."""


_WAITING = (CardState.OPEN, CardState.ESCALATED)
_ACTED = (CardState.EXECUTED, CardState.EXECUTION_FAILED)

LIFE: Mapping[tuple[CardState, Move], CardState] = {
    **{(state, move): state for state in _WAITING for move in (Move.VOTE, Move.EDIT, Move.JOIN, Move.REMIND)},
    **{(state, Move.APPROVE): CardState.APPROVED for state in _WAITING},
    **{(state, Move.DENY): CardState.DENIED for state in _WAITING},
    (CardState.OPEN, Move.ESCALATE): CardState.ESCALATED,
    **{(state, Move.EXPIRE): CardState.EXPIRED for state in _WAITING},
    **{(state, Move.WITHDRAW): CardState.WITHDRAWN for state in _WAITING},
    **{(state, Move.SUPERSEDE): CardState.SUPERSEDED for state in _WAITING},
    (CardState.APPROVED, Move.USE): CardState.APPROVED,
    (CardState.APPROVED, Move.EXECUTE): CardState.EXECUTED,
    (CardState.APPROVED, Move.FAIL): CardState.EXECUTION_FAILED,
    (CardState.EXECUTION_FAILED, Move.USE): CardState.EXECUTION_FAILED,
    (CardState.EXECUTION_FAILED, Move.EXECUTE): CardState.EXECUTED,
    **{(state, move): state for state in _ACTED for move in (Move.ASK_BACK, Move.TAKE_BACK)},
    **{(state, Move.UNDO): CardState.UNDONE for state in _ACTED},
    **{(state, Move.REVIEW): state for state in (CardState.APPROVED, *_ACTED, CardState.UNDONE)},
}
"""Every move there is. Only APPROVE leads to approved, and what was approved can only be carried out, taken back and
judged. An execution that failed and was resumed may still carry it out."""

CLOSED_WITHOUT_A_YES = frozenset(
    {CardState.DENIED, CardState.EXPIRED, CardState.WITHDRAWN, CardState.SUPERSEDED}
)  # fmt: skip


def state_after(state: CardState, move: Move) -> CardState:
    """Return where `move` leads; raise IllegalTransition when the table has no such row."""
    try:
        return LIFE[state, move]
    except KeyError:
        raise IllegalTransition(
            f"A card that is {state} takes no {move}.", state=state.value, move=move.value
        ) from None


def diagram() -> str:
    """Return the table as a Mermaid state diagram; moves that lead from a state to itself stand in a note."""
    lines = ["stateDiagram-v2", "    [*] --> open"]
    pairs: dict[tuple[CardState, CardState], list[str]] = {}
    for (state, move), end in LIFE.items():
        if state is not end:
            pairs.setdefault((state, end), []).append(move.value)
    lines += [f"    {start} --> {end}: {', '.join(moves)}" for (start, end), moves in pairs.items()]
    lines += [f"    {state} --> [*]" for state in CardState if state in CLOSED_WITHOUT_A_YES]
    return "\n".join(lines)
