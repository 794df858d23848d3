"""What a request took is known at every moment, at its worst where nobody told."""

from __future__ import annotations

import pytest

from contracts import Usage
from runtime.model.course import NOTHING, Course

MOST, TOLD = Usage(tokens_in=100, tokens_out=50), Usage(tokens_in=7, tokens_out=3)


def test_before_anything_is_sent_nothing_is_taken() -> None:
    assert (Course().took, Course().is_worst_case) == (NOTHING, False)


def test_what_was_sent_counts_at_its_worst_until_it_is_told() -> None:
    course = Course()
    course.sends(lambda: MOST)
    assert (course.took, course.is_worst_case) == (MOST, True)
    course.settles(TOLD)
    assert (course.took, course.is_worst_case) == (TOLD, False)


def test_what_nobody_told_stays_counted_beside_the_next() -> None:
    course = Course()
    course.sends(lambda: MOST)
    course.sends(lambda: MOST)
    course.settles(TOLD)
    assert (course.took, course.is_worst_case) == (MOST + TOLD, True)


def test_the_worst_is_not_reckoned_where_it_is_told() -> None:
    def never() -> Usage:
        raise AssertionError("it was reckoned")

    course = Course()
    course.sends(never)
    course.settles(TOLD)
    assert course.took == TOLD


def test_whoever_watches_is_told_when_it_waits_and_when_it_goes_on() -> None:
    course, seen = Course(), list[bool]()
    course.watch = seen.append
    with pytest.raises(KeyError), course.waiting():
        assert course.waited_s >= 0
        raise KeyError
    waited = course.waited_s

    assert seen == [True, False]
    assert course.waited_s == waited, "nothing is added once it goes on"
