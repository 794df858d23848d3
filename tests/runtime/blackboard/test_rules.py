"""What becomes of a key that several write."""

from __future__ import annotations

import pytest

from contracts import Json, ValueType
from runtime.blackboard import KeyRule, UnknownRule, register_rule, rule_named
from runtime.blackboard.rules import merged
from runtime.errors import InvalidArguments


@pytest.mark.parametrize(
    ("rule", "written", "value"),
    [
        ("replace", [1, 2], 2),
        ("append", [1, 2, 1], [1, 2, 1]),
        ("append", [[1], [2]], [[1], [2]]),
        ("max", [3, 7.5, 7], 7.5),
        ("max", ["2013-02-08", "2013-01-31"], "2013-02-08"),
        ("union", [["a", "b"], ["b", {"x": 1}], "c", {"x": 1}], ["a", "b", {"x": 1}, "c"]),
        ("union", [1, 1.5, True], [1, 1.5, True]),
        ("old + new", [1, 2, 3], 6),
        ("new.score > old.score ? new : old", [{"score": 2}, {"score": 5}, {"score": 1}], {"score": 5}),
    ],
)
def test_a_rule_takes_in_what_is_written(rule: str, written: list[Json], value: Json) -> None:
    stands: Json = None
    for each in written:
        stands = merged("k", rule, stands, each)

    assert stands == value


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [("max", 1, "a"), ("max", 1, None), ("max", None, [1]), ("max", None, True), ("old + new", 1, "a")],
)
def test_a_value_that_a_rule_cannot_take_is_refused(rule: str, old: Json, new: Json) -> None:
    with pytest.raises(InvalidArguments, match="cannot be merged into `k`"):
        merged("k", rule, old, new)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("maxx", "There is no merge rule `maxx`. Did you mean `max`?"),
        ("zzz", "There is no merge rule `zzz`. There is: append, max, replace, "),
        ("old +", "neither a merge rule nor an expression"),
        ("old + neu", "neither a merge rule nor an expression"),
    ],
)
def test_an_unknown_rule_is_told(rule: str, told: str) -> None:
    with pytest.raises(UnknownRule, match="rule") as refusal:
        rule_named(rule)

    assert told in str(refusal.value)


def test_a_rule_of_ones_own_can_be_registered() -> None:
    register_rule("shortest", lambda old, new: new if old is None or len(str(new)) < len(str(old)) else old)

    assert merged("k", "shortest", merged("k", "shortest", None, "long"), "s") == "s"


@pytest.mark.parametrize("name", ["max", "old + new", "Own", ""])
def test_a_rule_of_ones_own_takes_no_name_that_means_something_else(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a rule"):
        register_rule(name, lambda _old, new: new)


@pytest.mark.parametrize(("type_", "value"), [("number", "1"), ("number", None), ("date", "soon"), ("array", {})])
def test_a_value_of_another_type_is_refused(type_: str, value: Json) -> None:
    with pytest.raises(InvalidArguments, match=f"takes values of the type {type_}"):
        KeyRule(type=ValueType(type_)).require("k", value)
