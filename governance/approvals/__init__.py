"""Decision cards: how they are raised and decided, and the gate that asks for them at every effect."""

from governance.approvals.card import LIFE, CardState, CardView, Move, Use, card_sha256, fold_card, state_after
from governance.approvals.gate import ApprovalGate
from governance.approvals.gateway import ApprovalGateway
from governance.approvals.rule import DEFAULT_RULE, ApprovalRule, rule_for
from governance.approvals.strict import mode_of

__all__ = [
    "DEFAULT_RULE",
    "LIFE",
    "ApprovalGate",
    "ApprovalGateway",
    "ApprovalRule",
    "CardState",
    "CardView",
    "Move",
    "Use",
    "card_sha256",
    "fold_card",
    "mode_of",
    "rule_for",
    "state_after",
]
