"""So many in a second, a burst of so many at once, each key by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.access import RateLimiter
from tests.fakes.clock import HandClock


def test_a_burst_passes_then_one_for_each_interval() -> None:
    clock = HandClock()
    limiter = RateLimiter(clock, per_s=2, burst=3)

    assert [limiter.take("a") for _ in range(3)] == [0, 0, 0]
    assert limiter.take("a") == 0.5
    assert limiter.take("b") == 0
    clock.advance(0.5)
    assert [limiter.take("a"), limiter.take("a")] == [0, 0.5]
    clock.advance(60)
    assert [limiter.take("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_what_is_refused_takes_nothing() -> None:
    clock = HandClock()
    limiter = RateLimiter(clock, per_s=1, burst=1)
    limiter.take("a")
    for _ in range(100):
        assert limiter.take("a") == limiter.wait_s("a") == 1
    clock.advance(1)

    assert limiter.take("a") == 0


def test_a_clock_that_is_set_back_makes_nobody_wait_longer_than_the_burst_takes() -> None:
    clock = HandClock()
    limiter = RateLimiter(clock, per_s=1, burst=2)
    limiter.take("a")
    clock.advance(-86_400)

    assert limiter.wait_s("a") <= 2


def test_after_a_clock_was_set_back_the_wait_comes_to_an_end() -> None:
    clock = HandClock()
    limiter = RateLimiter(clock, per_s=1, burst=2)
    limiter.take("a")
    clock.advance(-86_400)

    refused = 0
    while (wait_s := limiter.take("a")) > 0:
        refused += 1
        clock.advance(wait_s)
        assert refused <= 2


@given(st.lists(st.floats(0, 3), max_size=60), st.integers(1, 5))
def test_in_any_stretch_of_time_no_more_pass_than_the_burst_and_what_the_time_gives(
    pauses: list[float], burst: int
) -> None:
    clock = HandClock()
    limiter = RateLimiter(clock, per_s=1, burst=burst)
    passed = []
    for pause in pauses:
        clock.advance(pause)
        if limiter.take("a") == 0:
            passed.append(clock.now())

    for first in range(len(passed)):
        for last in range(first, len(passed)):
            seconds = (passed[last] - passed[first]).total_seconds()
            assert last - first + 1 <= burst + seconds + 1e-3


def test_it_keeps_no_more_than_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("governance.access.rate_limits._KEPT", 10)
    limiter = RateLimiter(HandClock(), per_s=1, burst=1)
    for number in range(100):
        limiter.take(str(number))

    assert limiter.take("99") > 0
    assert limiter.take("5") == 0
