"""How readily a skill is shown to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from contracts import Name, ValueType


class Reach(StrEnum):
    """Where a skill stands among those of its employee."""

    CORE = "core"
    """Always shown."""
    EXTENDED = "extended"
    """Shown where it is among those that fit the goal best."""
    LONG_TAIL = "long-tail"
    """Shown where a rule holds: its own, or one of the organisation; without any, where one of its `words` stands in
    the goal."""


@dataclass(frozen=True, slots=True)
class ShowRule:
    """A rule of the organisation: skills that are shown where it holds, whatever their files say."""

    skills: tuple[Name, ...]
    when: str
    """Condition over `RULE_VARIABLES`."""


RULE_VARIABLES: Mapping[str, ValueType] = {"goal": ValueType.STRING, "employee": ValueType.STRING}
"""What a condition may name. `goal` is in lower case, full-width letters made plain."""
