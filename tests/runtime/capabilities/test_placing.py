"""Which labels an order wants whose capabilities bridges carry out."""

from __future__ import annotations

import pytest

from contracts import Effect
from runtime.capabilities.builtin import builtin_specs
from runtime.capabilities.connections import read_connection
from runtime.capabilities.placing import ASKS_FIRST, carried_by, labels_for, torn_between
from runtime.capabilities.specs import connection_specs

OPERATIONS = {effect.value: {"effect": effect.value} for effect in Effect}
ARM = {"kind": "bridge", "label": "steel", "operations": OPERATIONS}
SPECS = {spec.name.partition(".")[2]: spec for spec in connection_specs({"arm": read_connection(ARM)})}


def test_an_order_that_reads_wants_the_capability_the_label_and_the_organisation() -> None:
    labels = labels_for("stall", [SPECS["read"]])

    assert labels == ("steel", "carries:arm.read", "serves:stall")
    assert carried_by(labels) == {"arm.read"}


@pytest.mark.parametrize("effect", [effect for effect in Effect if effect is not Effect.READ])
def test_any_other_effect_wants_a_bridge_that_asks_first(effect: Effect) -> None:
    assert ASKS_FIRST in labels_for("stall", [SPECS["read"], SPECS[effect.value]])
    assert ASKS_FIRST in labels_for("stall", [SPECS["read"]], [effect])


def test_without_bridges_nothing_is_added() -> None:
    assert labels_for("stall", [], [Effect.WRITE]) == ()


def test_what_needs_a_sandbox_is_told_apart_from_what_bridges_carry_out() -> None:
    inside = [spec for spec in builtin_specs() if spec.sandboxed]

    assert {spec.name.partition(".")[0] for spec in inside} == {"python", "shell", "files", "browser"}
    assert torn_between([*inside[:1], SPECS["read"], SPECS["read"]]) == ((inside[0].name,), ("arm.read",))
    assert torn_between(inside) is None
    assert torn_between(SPECS.values()) is None
