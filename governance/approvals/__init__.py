"""Decision cards: how they are raised and decided, and the gate that asks for them at every effect."""

from governance.approvals.card import CardView, Use, card_sha256, fold_card
from governance.approvals.gate import ApprovalGate
from governance.approvals.gateway import ApprovalGateway
from governance.approvals.life import LIFE, CardState, Move, state_after
from governance.approvals.modes import mode_of
from governance.approvals.rule import DEFAULT_RULE, ApprovalRule, rule_for

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
