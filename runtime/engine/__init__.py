"""The step engine: plans carried out step by step, each step once, from wherever they stopped."""

from runtime.engine.accept import Unmet, unmet_checks
from runtime.engine.engine import Engine
from runtime.engine.fold import fold_order
from runtime.engine.ports import Delegate
from runtime.engine.recall import outputs_of
from runtime.engine.result import Result
from runtime.engine.resume import accepted_order, open_view
from runtime.engine.states import UnitState
from runtime.engine.view import OrderView, Unit

__all__ = [
    "Delegate",
    "Engine",
    "OrderView",
    "Result",
    "Unit",
    "UnitState",
    "Unmet",
    "accepted_order",
    "fold_order",
    "open_view",
    "outputs_of",
    "unmet_checks",
]
