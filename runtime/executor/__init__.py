"""The background executor: executions apart from whoever asked for them."""

from runtime.executor.executor import Executor
from runtime.executor.port import Asked, Body, ExecutionRun
from runtime.executor.record import KeyInUse, Submitted
from runtime.executor.service import ExecutorService
from runtime.executor.states import LIFE, ExecutionState, IllegalTransition, state_after
from runtime.executor.view import (
    ExecutionImported,
    ExecutionView,
    fold_execution,
    refuse_imported,
    root_order_id,
)

__all__ = [
    "LIFE",
    "Asked",
    "Body",
    "ExecutionImported",
    "ExecutionRun",
    "ExecutionState",
    "ExecutionView",
    "Executor",
    "ExecutorService",
    "IllegalTransition",
    "KeyInUse",
    "Submitted",
    "fold_execution",
    "refuse_imported",
    "root_order_id",
    "state_after",
]
