"""The table of states, and the diagram that it draws."""

from __future__ import annotations

from itertools import product

import pytest

from runtime.executor import LIFE, ExecutionState, IllegalTransition, state_after
from runtime.executor.states import FINISHED, IMPORTED, REQUESTED, UNFINISHED


@pytest.mark.parametrize(("state", "event"), [*product(ExecutionState, (*UNFINISHED, FINISHED, IMPORTED))])
def test_only_what_the_table_has_may_happen(state: ExecutionState, event: str) -> None:
    if (state, event) in LIFE:
        assert state_after(state, event) is LIFE[state, event]
    else:
        with pytest.raises(IllegalTransition, match=f"that is {state} cannot have {event} next"):
            state_after(state, event)


def test_nothing_follows_the_end_but_an_import() -> None:
    ends = (ExecutionState.FINISHED, ExecutionState.IMPORTED)
    assert {event for state, event in LIFE if state in ends} == {IMPORTED}


def test_every_state_is_reached_from_the_first_and_leads_to_the_end() -> None:
    reached = {ExecutionState.NEW}
    for _ in ExecutionState:
        reached |= {after for (before, _), after in LIFE.items() if before in reached}
    assert reached == set(ExecutionState)
    assert [event for (state, event) in LIFE if state is ExecutionState.NEW] == [REQUESTED]
