"""What the faces show of rules: what each says, whether code holds it, how its examples come out, what it refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from contracts import ExecutionId, Json, Text


@dataclass(frozen=True, slots=True)
class RuleExample:
    """One example of a rule, run."""

    use: str
    allowed: bool
    """The answer that the rule must give."""
    ok: bool
    """Whether it gives it."""
    why: str = ""
    fault: str = ""
    """What is wrong, where it does not."""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule of an organisation, as its folder has it now."""

    name: str
    version: str
    """Hash of all that it says."""
    text: Text
    allow_when: str | None
    """None: it is told, and no code holds it."""
    applies_to: tuple[str, ...]
    """Empty: everything that changes something."""
    effects: tuple[str, ...]
    breach: str | None
    """What comes of it where it is broken, where that was said."""
    examples: tuple[RuleExample, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedAction:
    """An action that a rule did not let happen."""

    at: datetime
    rule: str
    rule_version: str
    use: str
    step: str
    request_sha256: str
    """Of everything that the rule's condition could see."""
    message: str
    order_id: str
    execution_id: ExecutionId | None = None


@dataclass(frozen=True, slots=True)
class RefusedActions:
    """What the rules of an organisation did not let happen."""

    counts: Mapping[str, int]
    """Rule → how often, ever."""
    newest: tuple[RefusedAction, ...]
    """The newest first."""


def refused_action(
    at: datetime, data: Mapping[str, Json], *, order_id: str, execution_id: ExecutionId | None
) -> RefusedAction:  # fmt: skip
    """Return what a `policy.refused` event tells."""
    told = {name: str(data.get(name, "")) for name in ("rule", "rule_version", "use", "step", "request_sha256")}
    return RefusedAction(at, message=str(data.get("message", "")), order_id=order_id, execution_id=execution_id, **told)
