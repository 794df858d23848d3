from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import DispatchMode, ErrorCategory, Problem
from runtime.engine.pace import RULES, Pace, Sign, sign_of
from runtime.settings.groups import EngineSettings

SETTINGS = EngineSettings()
signs = st.lists(st.sampled_from(Sign))


@pytest.mark.parametrize(("mode", "sign"), list(product(DispatchMode, Sign)))
def test_every_way_to_dispatch_has_a_rule_for_every_sign(mode: DispatchMode, sign: Sign) -> None:
    assert RULES[mode, sign](1) >= 1


def test_adaptive_begins_with_four_grows_by_one_and_halves() -> None:
    pace = Pace.of(DispatchMode.ADAPTIVE, SETTINGS)
    seen = [pace.width]
    for sign in (Sign.SUCCESS, Sign.SUCCESS, Sign.FAILURE, Sign.RATE_LIMIT, Sign.FAILURE, Sign.SUCCESS):
        pace.take(sign)
        seen.append(pace.width)

    assert seen == [4, 5, 6, 3, 1, 1, 2]


@given(st.sampled_from(DispatchMode), signs, st.integers(1, 20), st.integers(1, 20))
def test_the_width_stays_between_one_and_the_most_whatever_happens(
    mode: DispatchMode, history: list[Sign], first: int, most: int
) -> None:
    pace = Pace.of(mode, EngineSettings(dispatch_at_once=first, dispatch_most=most))
    for sign in history:
        before = pace.take(sign)
        assert 1 <= pace.width <= (most if mode is DispatchMode.ADAPTIVE else first)
        assert pace.width <= before + 1
        if mode is not DispatchMode.ADAPTIVE:
            assert pace.width == before


@given(signs)
def test_only_an_adaptive_plan_is_narrowed_and_each_failure_at_least_halves(history: list[Sign]) -> None:
    pace = Pace.of(DispatchMode.ADAPTIVE, SETTINGS)
    for sign in history:
        before = pace.take(sign)
        assert pace.width == (min(16, before + 1) if sign is Sign.SUCCESS else max(1, before // 2))


def test_a_sequential_plan_is_one_at_a_time_and_a_parallel_one_as_wide_as_the_setting() -> None:
    assert Pace.of(DispatchMode.SEQUENTIAL, SETTINGS).width == 1
    assert Pace.of(DispatchMode.PARALLEL, SETTINGS).width == SETTINGS.dispatch_at_once


@pytest.mark.parametrize(
    ("facts", "sign"), [({"retry_after_s": 2}, Sign.RATE_LIMIT), ({"status": 429}, Sign.RATE_LIMIT), ({}, Sign.FAILURE)]
)
def test_a_service_that_asks_to_wait_is_told_from_a_failure(facts: dict[str, int], sign: Sign) -> None:
    problem = Problem(code="X", category=ErrorCategory.NETWORK, message="no", facts=facts)  # type: ignore[arg-type]

    assert sign_of(problem) is sign
