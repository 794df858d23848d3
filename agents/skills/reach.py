"""How readily a skill is shown to a model."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from contracts import ValueType


class Reach(StrEnum):
    """Where a skill stands among those of its employee."""

    CORE = "core"
    """Always shown."""
    EXTENDED = "extended"
    """Shown where it is among those that fit the goal best."""
    LONG_TAIL = "long-tail"
    """Shown where its rule holds; without a rule, where one of its `words` stands in the goal."""


RULE_VARIABLES: Mapping[str, ValueType] = {"goal": ValueType.STRING, "employee": ValueType.STRING}
"""What `show_when` may name. `goal` is in lower case, full-width letters made plain."""
