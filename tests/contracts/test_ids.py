"""Ids check themselves, print so that a person can paste them, and sort by when they were made."""

from __future__ import annotations

import inspect
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from ulid import ULID

import contracts
from contracts import CardId, ExecutionId, Id, OrderId
from contracts.ids import new_ulid, ulid_text

KINDS = [each for each in vars(contracts).values() if inspect.isclass(each) and issubclass(each, Id) and each is not Id]


@pytest.mark.parametrize("kind", KINDS, ids=lambda each: each.__name__)
def test_a_fresh_id_is_of_its_kind_and_comes_back(kind: type[Id]) -> None:
    fresh = kind.new()

    assert fresh == f"{kind.KIND}/{fresh.ulid}"
    assert kind(str(fresh)) == fresh
    assert TypeAdapter(kind).validate_json(TypeAdapter(kind).dump_json(fresh)) == fresh


def test_kinds_are_distinct() -> None:
    assert len({kind.KIND for kind in KINDS}) == len(KINDS)


def test_an_id_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="not an id of the kind order"):
        OrderId(ExecutionId.new())
    with pytest.raises(ValidationError):
        TypeAdapter(CardId).validate_python(str(OrderId.new()))


@given(st.text(max_size=40))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="order"):
        OrderId(text)


@pytest.mark.parametrize("ulid", ["", "01J", "01JB0000000000000000000XEI", "01jb0000000000000000000xec", "Z" * 26])
def test_what_is_no_ulid_in_capitals_is_refused(ulid: str) -> None:
    with pytest.raises(ValueError, match="ULID"):
        OrderId(f"order/{ulid}")


def test_a_fresh_ulid_tells_when_it_was_made_and_its_bytes_are_those_of_its_text() -> None:
    before = time.time_ns() // 1_000_000
    made = [new_ulid() for _ in range(100)]
    after = time.time_ns() // 1_000_000

    assert len(set(made)) == 100
    for text, stored in made:
        assert ULID.from_str(text).bytes == stored and ulid_text(int.from_bytes(stored)) == text
        assert before <= ULID.from_str(text).milliseconds <= after


def test_the_same_ulid_of_two_kinds_is_two_ids() -> None:
    ulid = OrderId.new().ulid

    assert OrderId(f"order/{ulid}") != CardId(f"card/{ulid}")
