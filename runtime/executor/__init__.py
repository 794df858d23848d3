"""The background executor: executions apart from whoever asked for them."""

from runtime.executor.executor import Executor
from runtime.executor.port import Body, ExecutionRun
from runtime.executor.record import KeyInUse
from runtime.executor.states import LIFE, ExecutionState, IllegalTransition, state_after
from runtime.executor.view import ExecutionView, fold_execution, root_order_id

__all__ = [
    "LIFE",
    "Body",
    "ExecutionRun",
    "ExecutionState",
    "ExecutionView",
    "Executor",
    "IllegalTransition",
    "KeyInUse",
    "fold_execution",
    "root_order_id",
    "state_after",
]
