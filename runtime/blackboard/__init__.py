"""The board that all agents of one execution share."""

from runtime.blackboard.on_ledger import LedgerBlackboard
from runtime.blackboard.port import Blackboard, Entry, Version
from runtime.blackboard.rules import KeyRule, UnknownRule, register_rule, rule_named
from runtime.blackboard.told import ToldBoard

__all__ = [
    "Blackboard", "Entry", "KeyRule", "LedgerBlackboard", "ToldBoard", "UnknownRule", "Version", "register_rule",
    "rule_named",
]  # fmt: skip
