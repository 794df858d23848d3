"""Ids as people type them."""

from __future__ import annotations

import pytest

from console.errors import UnknownId
from console.ids import choose
from contracts import CardId

FIRST = CardId("card/01JB0000000000000000000ABC")
SECOND = CardId("card/01JB0000000000000000000XYZ")
KNOWN = [FIRST, SECOND]


@pytest.mark.parametrize("typed", [str(FIRST), FIRST.ulid, FIRST.ulid.lower(), "0ABC", "card/00ABC", " 00abc "])
def test_in_full_or_by_letters_that_only_it_has(typed: str) -> None:
    assert choose(CardId, typed, KNOWN) == FIRST


def test_letters_that_several_have_list_them() -> None:
    with pytest.raises(UnknownId) as error:
        choose(CardId, "01JB", KNOWN)

    assert error.value.facts["candidates"] == [str(FIRST), str(SECOND)]


def test_too_few_letters_are_told_how_many_it_takes() -> None:
    with pytest.raises(UnknownId, match="Type at least 4 letters of an id"):
        choose(CardId, "01", KNOWN)


@pytest.mark.parametrize("typed", ["ABC", "nothing", "", "order/01JB0000000000000000000ABC"])
def test_what_names_nothing_names_the_newest(typed: str) -> None:
    with pytest.raises(UnknownId, match="The newest: card/01JB0000000000000000000XYZ"):
        choose(CardId, typed, KNOWN)


def test_where_there_is_none_that_is_said() -> None:
    with pytest.raises(UnknownId, match="There is no card yet"):
        choose(CardId, "01JB", [])
