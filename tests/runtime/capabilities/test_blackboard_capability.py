from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from contracts import Json
from runtime.blackboard.on_ledger import LedgerBlackboard
from runtime.capabilities.blackboard import ReadBlackboard, WriteBlackboard
from runtime.capabilities.port import CallContext
from runtime.errors import InvalidArguments, VersionConflict
from runtime.ledger.store import SqlStore
from runtime.settings import BlackboardSettings
from tests.fakes.calls import a_call
from tests.fakes.orders import an_order

pytestmark = pytest.mark.anyio


@pytest.fixture
def context(sqlite_store: SqlStore) -> CallContext:
    order = an_order()
    board = LedgerBlackboard(
        sqlite_store.ledger, order.execution_id, organisation=order.organisation, settings=BlackboardSettings()
    )
    return a_call(order=order, blackboard=board)


async def write(store: SqlStore, context: CallContext, **arguments: Json) -> Mapping[str, Json]:
    result = await WriteBlackboard().call(arguments, context)
    await store.ledger.append(*result.appends)
    return result.output


async def read(context: CallContext, key: str) -> Mapping[str, Json]:
    return (await ReadBlackboard().call({"key": key}, context)).output


async def test_a_value_is_read_with_who_wrote_it(sqlite_store: SqlStore, context: CallContext) -> None:
    assert await write(sqlite_store, context, key="rate", value=0.3) == {"key": "rate", "version": 1}

    assert await read(context, "rate") == {
        "key": "rate", "found": True, "value": 0.3, "version": 1, "employee": "analyst", "step": "do", "conflicts": [],
    }  # fmt: skip


async def test_a_key_that_was_never_written_is_not_found(context: CallContext) -> None:
    assert (await read(context, "none"))["found"] is False


async def test_a_value_that_changed_meanwhile_is_not_overwritten(sqlite_store: SqlStore, context: CallContext) -> None:
    await write(sqlite_store, context, key="rate", value=1)

    with pytest.raises(VersionConflict):
        await write(sqlite_store, context, key="rate", value=2, expected_version=0)


async def test_what_another_order_wrote_unseen_is_told_until_somebody_decides(
    sqlite_store: SqlStore, context: CallContext
) -> None:
    other = replace(context, order=an_order(execution_id=context.order.execution_id))
    await write(sqlite_store, context, key="rate", value=1)
    await write(sqlite_store, other, key="rate", value=2)

    told = (await read(context, "rate"))["conflicts"]
    assert told == [{"version": 1, "value": 1, "employee": "analyst", "step": "do"}]
    await write(sqlite_store, context, key="rate", value=3, expected_version=2)
    assert (await read(context, "rate"))["conflicts"] == []


async def test_without_a_board_that_is_told() -> None:
    with pytest.raises(InvalidArguments, match="has no blackboard"):
        await ReadBlackboard().call({"key": "rate"}, a_call())
