"""The table of a memory's life: every pair of state and move."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from contracts import MemoryState
from memory.records.errors import MemoryPast
from memory.records.life import LIFE, Move, diagram, state_after

NAME = "memory/01J9ZZZZZZZZZZZZZZZZZZZZZZ"


@pytest.mark.parametrize(("state", "move"), list(product(MemoryState, Move)))
def test_a_move_leads_where_the_table_says_and_nowhere_else(state: MemoryState, move: Move) -> None:
    if (state, move) in LIFE:
        assert state_after(state, move, NAME) is LIFE[state, move]
    else:
        with pytest.raises(MemoryPast, match=f"is {state.value}, so that it cannot be asked to {move.value}"):
            state_after(state, move, NAME)


def test_nothing_leads_out_of_erased() -> None:
    assert not [move for state, move in LIFE if state is MemoryState.ERASED]


def test_only_what_is_active_is_read() -> None:
    assert {state for state, move in LIFE if move is Move.READ} == {MemoryState.ACTIVE}


def test_the_diagram_of_the_documentation_is_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "memory.md"
    assert diagram() in page.read_text(encoding="utf-8")
