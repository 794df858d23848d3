"""The values of a plan's parameters: what is given counts, null as well, and only what is not given has a default."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agents.employee.parameters import complete
from contracts import Json, Parameter, ValueType
from runtime.errors import InvalidArguments

NOW = datetime(2013, 2, 8, 17, tzinfo=UTC)
DECLARED = {
    "days": Parameter(type=ValueType.INTEGER, default=30),
    "note": Parameter(type=ValueType.STRING, required=False),
    "anything": Parameter(type=ValueType.ANY, default="x"),
    "at": Parameter(type=ValueType.DATE_TIME, required=False),
}


def completed(**given: Json) -> dict[str, Json]:
    return complete(DECLARED, given, known_at=NOW, time_zone="UTC", whose="the skill look")


def test_what_is_not_given_has_its_default() -> None:
    assert completed() == {"days": 30, "note": None, "anything": "x", "at": "2013-02-08T17:00:00"}


def test_a_null_stays_null_where_it_fits() -> None:
    assert completed(note=None, anything=None, at=None) == {"days": 30, "note": None, "anything": None, "at": None}


def test_a_null_that_would_hide_a_default_is_refused() -> None:
    with pytest.raises(InvalidArguments, match=r"days: null was passed, which is no integer\. Leave it out") as refused:
        completed(days=None)

    assert refused.value.facts["missing"] == ["days"]
