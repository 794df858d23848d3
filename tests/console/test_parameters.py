"""Values as people type them: the declaration says what the text means."""

from __future__ import annotations

import pytest

from console.parameters import read_values
from contracts import Json, Parameter, ValueType
from runtime.errors import InvalidArguments


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (ValueType.STRING, "007", "007"),
        (ValueType.INTEGER, "7", 7),
        (ValueType.NUMBER, "7.5", 7.5),
        (ValueType.NUMBER, "7", 7),
        (ValueType.BOOLEAN, "yes", True),
        (ValueType.DATE, "2013-02-08", "2013-02-08"),
        (ValueType.DATE_TIME, "2013-02-08T17:00", "2013-02-08T17:00:00"),
        (ValueType.ARRAY, '["EWR"]', ["EWR"]),
        (ValueType.OBJECT, '{"a": 1}', {"a": 1}),
        (ValueType.MONEY, "5 USD", {"schema_version": "1.0", "amount": "5", "currency": "USD"}),
        (ValueType.ANY, "plain words", "plain words"),
        (ValueType.ANY, "[1]", [1]),
    ],
)
def test_a_text_becomes_what_is_declared(type_: ValueType, text: str, value: Json) -> None:
    assert read_values({"x": text}, {"x": Parameter(type=type_)}) == {"x": value}


@pytest.mark.parametrize(
    ("type_", "text"),
    [(ValueType.INTEGER, "7.5"), (ValueType.NUMBER, "many"), (ValueType.BOOLEAN, "1"), (ValueType.DATE, "8 Feb"),
     (ValueType.DATE_TIME, "noon"), (ValueType.ARRAY, "{}"), (ValueType.OBJECT, "no"), (ValueType.MONEY, "5"),
     (ValueType.ARRAY, "[1e400]"), (ValueType.OBJECT, '{"a": NaN}'), (ValueType.NUMBER, "1e400")],
)  # fmt: skip
def test_a_text_that_does_not_fit_is_refused_with_its_name(type_: ValueType, text: str) -> None:
    with pytest.raises(InvalidArguments, match=r"^x: "):
        read_values({"x": text}, {"x": Parameter(type=type_)})


def test_all_faults_come_at_once() -> None:
    declared = {
        "origin": Parameter(type=ValueType.STRING, choices=("EWR", "JFK")),
        "limit": Parameter(type=ValueType.INTEGER, default=5),
    }

    with pytest.raises(InvalidArguments) as error:
        read_values({"orgin": "EWR", "origin": "LGA"}, declared)

    assert error.value.message.splitlines() == [
        "orgin is not a parameter. Did you mean origin?",
        "origin: 'LGA' is not one of EWR, JFK.",
    ]
