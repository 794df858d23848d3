"""The life of a call that lies before a bridge."""

from __future__ import annotations

from itertools import product

import pytest

from cluster.foreign.stages import BEGUN, ENDED, LIFE, OPEN, CallMove, CallStage, call_after


@pytest.mark.parametrize(("stage", "move"), list(product(CallStage, CallMove)))
def test_only_the_table_moves_a_call(stage: CallStage, move: CallMove) -> None:
    assert call_after(stage, move) is LIFE.get((stage, move))


def test_nothing_is_carried_out_without_leave() -> None:
    to_answered = {stage for (stage, _), after in LIFE.items() if after is CallStage.ANSWERED}
    to_allowed = {stage for (stage, _), after in LIFE.items() if after is CallStage.ALLOWED}

    assert to_answered == {CallStage.ALLOWED}
    assert to_allowed == {CallStage.ASKED}


def test_what_is_begun_is_never_taken_back_and_what_ended_stays_so() -> None:
    assert not {move for (stage, move) in LIFE if stage in ENDED}
    assert {move for (stage, move) in LIFE if stage in BEGUN} == {CallMove.ANSWER}
    assert set(OPEN) | set(BEGUN) | set(ENDED) == set(CallStage)
