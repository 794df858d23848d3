"""The life of a queued order."""

from __future__ import annotations

from itertools import product

import pytest

from cluster.control_plane.stages import LIFE, Move, Stage, stage_after


@pytest.mark.parametrize(("stage", "move"), list(product(Stage, Move)))
def test_an_order_makes_only_the_moves_of_the_table(stage: Stage, move: Move) -> None:
    assert stage_after(stage, move) == LIFE.get((stage, move))


def test_an_order_can_be_submitted_again_at_any_stage() -> None:
    assert all(stage_after(stage, Move.SUBMIT) is not None for stage in Stage)


def test_only_an_assigned_order_is_begun_and_only_a_running_one_reports() -> None:
    assert [stage for stage in Stage if stage_after(stage, Move.ACCEPT)] == [Stage.ASSIGNED]
    assert [stage for stage in Stage if stage_after(stage, Move.REPORT)] == [Stage.RUNNING]
