"""Names of tools that endpoints take, and the way back."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.model.requests import Names

TAKEN = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONG = "a" * 70
SETS = st.sets(st.text(max_size=80) | st.from_regex(r"[a-z]{1,3}[._ -][a-z]{1,2}", fullmatch=True), max_size=12)


@given(SETS, st.randoms())
def test_every_set_of_names_gets_aliases_that_fit_unique_reversible_and_stable(names: set[str], chance: Random) -> None:
    aliases = Names(names, reserved=("none",))
    told = {name: aliases.alias(name) for name in names}
    shuffled = sorted(names)
    chance.shuffle(shuffled)

    assert all(TAKEN.fullmatch(alias) and alias != "none" for alias in told.values())
    assert {aliases.real(alias): alias for alias in told.values()} == told
    assert {name: Names(shuffled, reserved=("none",)).alias(name) for name in names} == told


def test_a_name_that_fits_stays_and_a_dot_becomes_a_line() -> None:
    names = Names(["desk.find", "look"])

    assert (names.alias("desk.find"), names.alias("look")) == ("desk_find", "look")


@pytest.mark.parametrize(
    ("name", "beside", "like"),
    [
        ("desk.find", "desk_find", r"desk_find_[0-9a-f]{8}"),
        ("desk.find", "desk:find", r"desk_find_[0-9a-f]{8}"),
        ("查询航班", "look", r"tool_[0-9a-f]{8}"),
        ("查询.flights", "look", r"flights_[0-9a-f]{8}"),
        (LONG + "b", LONG + "c", r"a{55}_[0-9a-f]{8}"),
        ("none", "look", r"none_[0-9a-f]{8}"),
        ("", "look", r"tool_[0-9a-f]{8}"),
    ],
)
def test_what_would_collide_or_say_too_little_gets_its_hash(name: str, beside: str, like: str) -> None:
    names = Names([name, beside], reserved=("none",))

    assert re.fullmatch(like, names.alias(name))
    assert names.alias(name) != names.alias(beside)


def test_a_model_that_writes_the_real_name_is_understood() -> None:
    names = Names(["desk.find"])

    assert names.real("desk.find") == names.real("desk_find") == "desk.find"
    assert names.real("desk.fnd") == "desk.fnd"


@given(SETS, st.text(max_size=80))
def test_a_tool_of_earlier_in_the_conversation_gets_a_name_that_is_no_other_tools(
    names: set[str], earlier: str
) -> None:
    aliases = Names(names, reserved=("none",))
    alias = aliases.alias(earlier)

    assert TAKEN.fullmatch(alias) and alias != "none"
    assert alias == earlier or aliases.real(alias) == (earlier if earlier in names else alias)
