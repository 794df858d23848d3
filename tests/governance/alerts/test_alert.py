from itertools import product
from pathlib import Path

import pytest

from governance.alerts import LIFE, AlertMove, AlertState, diagram, state_after
from governance.errors import IllegalTransition


@pytest.mark.parametrize(("state", "move"), list(product(AlertState, AlertMove)))
def test_only_what_the_table_says_happens(state: AlertState, move: AlertMove) -> None:
    if (state, move) in LIFE:
        assert state_after(state, move) is LIFE[state, move]
    else:
        with pytest.raises(IllegalTransition):
            state_after(state, move)


def test_only_a_person_acknowledges() -> None:
    assert {move for (_, move), to in LIFE.items() if to is AlertState.ACKNOWLEDGED} == {
        AlertMove.ACKNOWLEDGE,
        AlertMove.GROW,
    }


def test_nothing_leads_out_of_closed() -> None:
    assert not [move for state, move in LIFE if state is AlertState.CLOSED]


def test_the_diagram_has_every_row_of_the_table() -> None:
    assert all(f"{state} --> {to}: {move}" in diagram() for (state, move), to in LIFE.items())


def test_the_picture_in_the_documentation_is_drawn_from_the_table() -> None:
    assert diagram() in (Path(__file__).parents[3] / "docs" / "alerts.md").read_text()
