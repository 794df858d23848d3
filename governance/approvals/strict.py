"""Who decides. Strict: a person, always. The other modes are not here yet, and what is not here refuses."""

from __future__ import annotations

from contracts import ApprovalMode
from governance.approvals.rule import ApprovalRule
from governance.errors import ModeNotAvailable

AVAILABLE = frozenset({ApprovalMode.STRICT})
"""Modes that this version can decide by."""


def mode_of(rule: ApprovalRule, requested: ApprovalMode | None) -> ApprovalMode:
    """Return the mode that holds: the rule's own, or the request's where that is stricter.

    Raises:
        ModeNotAvailable: it is none of those that are here.
    """
    mode = rule.mode if requested is None else rule.mode.stricter(requested)
    if mode not in AVAILABLE:
        raise ModeNotAvailable(
            f"The approval rule {rule.name} says mode {mode}; this version decides by strict only. "
            f"Set `mode: strict` for {rule.name} in org.yaml.",
            rule=rule.name,
            mode=mode.value,
        )
    return mode
