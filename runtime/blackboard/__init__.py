"""The board that all agents of one execution share."""

from runtime.blackboard.on_ledger import LedgerBlackboard
from runtime.blackboard.port import Blackboard, Entry

__all__ = ["Blackboard", "Entry", "LedgerBlackboard"]
