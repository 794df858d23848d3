"""An episode opens when `when` holds and is over only when `clear_when` does."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.cognition.sense.definition import SensorDefinition
from agents.cognition.sense.hysteresis import TABLE, Mark, Move, Phase, Seen, SlicePhase
from agents.cognition.sense.judge import Standing, judge
from contracts import Grain
from memory.metrics import MetricValue, ValueState

FIRST = datetime(2013, 2, 1)
LETTERS = {Standing.FIRES: "F", Standing.OPEN: "o", Standing.CLEARS: "C", Standing.QUIET: ".", Standing.BUILDING: "b"}


def day(place: int, value: float | None, *, complete: bool = True) -> MetricValue:
    start = FIRST + timedelta(days=place)
    state = ValueState.VALUE if value is not None else ValueState.MISSING
    return MetricValue(start.date().isoformat(), start, value, 1, state, complete)


def sensor(**fields: object) -> SensorDefinition:
    values: dict[str, object] = {"name": "bad", "metric": "rate", "grain": Grain.DAY, "when": "value > 10"}
    return SensorDefinition(**{**values, "clear_when": "value < 5", **fields})  # type: ignore[arg-type]


def standings(*values: float | None, definition: SensorDefinition | None = None, mark: Mark | None = None) -> str:
    days = [day(place, value) for place, value in enumerate(values)]
    judged = judge(definition or sensor(), days, marks={"all": mark} if mark else {})
    return "".join(LETTERS.get(each.standing, "?") for each in judged)


def test_every_phase_has_a_row_for_all_that_can_be_seen() -> None:
    assert set(TABLE) == set(product(Phase, Seen))


def test_a_number_that_swings_between_the_thresholds_rings_once() -> None:
    assert standings(3, 11, 9, 12, 6, 11, 4, 6, 9, 11) == ".FoFoFC..F"


def test_without_a_value_an_episode_neither_begins_nor_ends() -> None:
    assert standings(11, None, 7, None, 4) == "F?o?C"
    assert standings(None, 4, 11) == "?.F"


def test_it_begins_only_after_enough_in_a_row_and_ends_at_once() -> None:
    assert standings(11, 6, 11, 12, 11, 6, 11, 4, definition=sensor(in_a_row=2)) == "b.bFFoFC"


def test_a_bucket_that_still_runs_may_open_an_episode_and_never_ends_one() -> None:
    running = [day(0, 11), day(1, 0, complete=False)]
    assert [each.standing for each in judge(sensor(), running)] == [Standing.FIRES, Standing.OPEN]
    assert judge(sensor(), [day(0, 11, complete=False)])[0].standing is Standing.FIRES


def test_an_episode_that_began_before_what_is_read_goes_on() -> None:
    before = Mark(FIRST - timedelta(days=30), Phase.OPEN)
    assert standings(7, 6, 4, mark=before) == "ooC"
    assert standings(7, 6, 4) == "..."


def test_what_was_settled_is_not_moved_a_second_time() -> None:
    cleared = Mark(FIRST + timedelta(days=2), Phase.CLEAR)
    assert standings(11, 7, 4, 7, 11, mark=cleared) == "....F"


def test_the_bucket_that_opened_while_it_ran_may_end_it_when_it_is_whole() -> None:
    opened = Mark(FIRST, Phase.OPEN)
    assert standings(4, 11, mark=opened) == "CF"
    assert standings(11, 4, mark=opened) == "FC"


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 15)), max_size=30))
def test_openings_and_endings_take_turns(values: list[int | None]) -> None:
    phase, moves = SlicePhase(), []
    for place, value in enumerate(values):
        seen = Seen.NOTHING if value is None else Seen.HOLDS if value > 10 else Seen.ENDS if value < 5 else Seen.NEITHER
        moves.append(phase.see(FIRST + timedelta(days=place), seen))
    turns = [move for move in moves if move in (Move.OPENS, Move.CLEARS)]
    assert turns == [Move.OPENS, Move.CLEARS] * (len(turns) // 2) + [Move.OPENS] * (len(turns) % 2)


@settings(deadline=None)
@given(st.lists(st.integers(0, 15), min_size=1, max_size=25), st.data())
def test_looking_again_from_any_place_comes_to_the_same_end(values: list[int], data: st.DataObject) -> None:
    """Looked at day by day, each time from the ledger's mark and with any look back, or all at once."""
    days = [day(place, float(value)) for place, value in enumerate(values)]
    at_once = [each.standing for each in judge(sensor(), days)]
    mark: Mark | None = None
    for place in range(len(days)):
        first = data.draw(st.integers(0, place))
        judged = judge(sensor(), days[first : place + 1], marks={"all": mark} if mark else {})
        assert judged[-1].standing is at_once[place]
        if judged[-1].standing is Standing.CLEARS:
            mark = Mark(days[place].start, Phase.CLEAR)
        elif judged[-1].standing is Standing.FIRES and (mark is None or mark.phase is Phase.CLEAR):
            mark = Mark(days[place].start, Phase.OPEN)


@pytest.mark.parametrize("phase", list(Phase))
def test_nothing_that_is_missing_changes_a_phase(phase: Phase) -> None:
    assert TABLE[phase, Seen.NOTHING][0] is phase
