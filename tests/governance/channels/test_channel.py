"""Quiet hours on the clock of the wall, and the table of deliveries."""

from __future__ import annotations

from datetime import UTC, datetime, time
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from contracts import Severity
from governance.channels import DeliveryState, Quiet
from governance.channels.delivery import DEAD, DROPPED, FAILED, LIFE, QUEUED, RETRIED, SENT, state_after
from governance.errors import IllegalTransition

NEW_YORK = ZoneInfo("America/New_York")
NIGHT = Quiet(time(22), time(7), Severity.CRITICAL)
NOON = Quiet(time(12), time(13))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=NEW_YORK).astimezone(UTC)


@pytest.mark.parametrize(
    ("quiet", "now", "until"),
    [
        (NIGHT, "2013-02-08T21:59", "2013-02-08T21:59"),
        (NIGHT, "2013-02-08T22:00", "2013-02-09T07:00"),
        (NIGHT, "2013-02-09T06:59", "2013-02-09T07:00"),
        (NIGHT, "2013-02-09T07:00", "2013-02-09T07:00"),
        (NOON, "2013-02-08T12:30", "2013-02-08T13:00"),
        (NOON, "2013-02-08T13:00", "2013-02-08T13:00"),
        (NIGHT, "2013-03-09T23:00", "2013-03-10T07:00"),
        (NIGHT, "2013-11-02T23:00", "2013-11-03T07:00"),
    ],
)
def test_what_comes_in_quiet_hours_is_told_at_their_end_on_the_wall(quiet: Quiet, now: str, until: str) -> None:
    assert quiet.until(utc(now), Severity.HIGH, NEW_YORK) == utc(until)


def test_what_is_bad_enough_is_told_at_once() -> None:
    now = utc("2013-02-08T23:00")
    assert NIGHT.until(now, Severity.CRITICAL, NEW_YORK) == now


@pytest.mark.parametrize(
    ("state", "type_"), [*product([None, *DeliveryState], [QUEUED, FAILED, SENT, DEAD, RETRIED, DROPPED])]
)
def test_a_delivery_moves_as_the_table_says_and_not_otherwise(state: DeliveryState | None, type_: str) -> None:
    if (state, type_) in LIFE:
        assert state_after(state, type_) is LIFE[state, type_]
    else:
        with pytest.raises(IllegalTransition):
            state_after(state, type_)


def test_what_arrived_or_was_dropped_stays_so() -> None:
    assert not [state for state, _ in LIFE if state in (DeliveryState.SENT, DeliveryState.DROPPED)]
