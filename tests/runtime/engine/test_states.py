from __future__ import annotations

from itertools import product

import pytest

from runtime.engine.states import LIFE, IllegalMove, Move, UnitState, next_state


@pytest.mark.parametrize(("state", "move"), list(product(UnitState, Move)))
def test_only_the_table_moves_a_unit(state: UnitState, move: Move) -> None:
    if (state, move) in LIFE:
        assert next_state(state, move) is LIFE[state, move]
    else:
        with pytest.raises(IllegalMove, match="damaged"):
            next_state(state, move)


@pytest.mark.parametrize("move", [move for move in Move if move is not Move.REOPEN])
@pytest.mark.parametrize("state", [UnitState.DONE, UnitState.FAILED, UnitState.SKIPPED])
def test_a_settled_unit_never_moves_again(state: UnitState, move: Move) -> None:
    assert (state, move) not in LIFE
