"""Any value becomes JSON that every store and screen can hold, and the same value always the same bytes."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import Json, OrderId
from runtime.canonical import MAX_DEPTH, Told, clean, sha256, to_bytes


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\0b", "a␀b"),
        ("lone \ud800 surrogate", "lone � surrogate"),
        (math.nan, None),
        (-math.inf, None),
        (2**63, 2**63),
        (Decimal("1.10"), "1.10"),
        (date(2013, 2, 8), "2013-02-08"),
        (datetime(2013, 2, 8, 22, tzinfo=UTC), "2013-02-08T22:00:00+00:00"),
        (b"text", "text"),
        (b"\xff\x00", "ff00"),
        ((1, {2}), [1, [2]]),
        ({1: "one"}, {"1": "one"}),
        ("北京 🛫", "北京 🛫"),
    ],
    ids=repr,
)
def test_odd_values_become_what_every_store_can_hold(value: Any, expected: Any) -> None:
    assert clean(value) == expected


@pytest.mark.parametrize("value", [OrderId.new(), Colour.RED], ids=["id", "member"])
def test_ids_and_members_of_an_enumeration_become_plain_text(value: str) -> None:
    assert type(clean(value)) is str and clean(value) == value


def test_numbers_of_numpy_become_numbers() -> None:
    import numpy as np

    assert clean({"a": np.int64(3), "b": np.float64("nan"), "c": np.array([1.5])}) == {"a": 3, "b": None, "c": [1.5]}


def test_what_is_nested_too_deeply_becomes_its_text() -> None:
    deep: Any = "end"
    for _ in range(MAX_DEPTH + 50):
        deep = [deep]

    assert len(to_bytes(clean(deep))) < 1_000


def test_what_is_nested_so_deeply_that_it_has_no_text_says_what_it_is() -> None:
    deep: Any = "end"
    for _ in range(20_000):
        deep = [deep]

    assert b"[a list, nested too deeply]" in to_bytes(clean(deep))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)))  # fmt: skip  # noqa: E501
def test_cleaning_twice_changes_nothing_and_the_bytes_read_back(value: Any) -> None:
    once = clean(value)

    assert clean(once) == once
    assert json.loads(to_bytes(once)) == once


def test_the_order_of_keys_does_not_change_the_hash() -> None:
    assert sha256({"a": 1, "b": [2]}) == sha256({"b": [2], "a": 1})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=20,
    )
)  # fmt: skip
def test_canonical_bytes_are_those_of_the_standard_library(value: Json) -> None:
    try:
        expected = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        with pytest.raises(UnicodeEncodeError):
            to_bytes(value)
    else:
        assert to_bytes(value) == expected


def test_what_is_no_json_has_no_canonical_bytes() -> None:
    ring: dict[str, Any] = {}
    ring["ring"] = ring

    for value, error in ((ring, ValueError), (math.nan, ValueError), ({"x": object()}, TypeError)):
        with pytest.raises(error):
            to_bytes(value)


def test_what_was_told_once_stands_in_a_larger_value_as_it_would_anyway() -> None:
    order = {"z": [1, 2.5], "a": {"ö": 'q"\n'}, "m": None}

    assert to_bytes({"step": "x", "order": Told(order), "index": None}) == to_bytes(
        {"step": "x", "order": order, "index": None}
    )
    assert to_bytes(Told(order)) == to_bytes(order)
    nested = {"b": Told({"plan": Told(order), "a": 1, "z": {}}), "a": 0, "c": Told({})}
    assert to_bytes(nested) == to_bytes({"b": {"plan": order, "a": 1, "z": {}}, "a": 0, "c": {}})
