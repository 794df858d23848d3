"""The blackboard as a model is told it: by key, with who wrote it, and bounded."""

from __future__ import annotations

import pytest

from contracts import ExecutionId, Json
from runtime.blackboard import LedgerBlackboard, ToldBoard
from runtime.context.blocks import About
from runtime.ledger.store import SqlStore
from runtime.settings.context import ContextSettings
from runtime.settings.groups import BlackboardSettings
from tests.agents.employee.staff import order
from tests.stores import sqlite_store

__all__ = ["sqlite_store"]
pytestmark = pytest.mark.anyio


async def told(store: SqlStore, values: dict[str, Json], **settings: int) -> str:
    board = LedgerBlackboard(store.ledger, ExecutionId.new(), organisation="acme", settings=BlackboardSettings())
    for key, value in values.items():
        await store.ledger.append(board.write(key, value, expected_version=0, employee="ann", step="look"))
    parts = await ToldBoard(board, ContextSettings(**settings)).parts(About(order(), "think", "Think.", ()))
    return "".join(part.text for part in parts)


async def test_each_entry_is_told_with_who_wrote_it(sqlite_store: SqlStore) -> None:
    text = await told(sqlite_store, {"rate": 0.3, "cause": "暴风雪"})

    assert text.splitlines()[1:] == ['- cause (ann, step look): "暴风雪"', "- rate (ann, step look): 0.3"]


async def test_a_long_value_is_named_and_many_are_counted(sqlite_store: SqlStore) -> None:
    text = await told(sqlite_store, {f"k{n:02}": "x" * (300 if n == 0 else 20) for n in range(40)}, board_chars=400)

    assert "- k00 (ann, step look): 302 characters; read it with blackboard.read" in text
    assert "more keys; read one with blackboard.read" in text and len(text) < 600


async def test_an_empty_board_says_nothing(sqlite_store: SqlStore) -> None:
    assert await told(sqlite_store, {}) == ""
