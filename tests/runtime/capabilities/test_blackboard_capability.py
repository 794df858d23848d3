from __future__ import annotations

from collections.abc import Mapping

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

    read_back = await read(context, "rate")
    assert read_back == {"key": "rate", "found": True, "value": 0.3, "version": 1, "employee": "analyst", "step": "do"}


async def test_a_key_that_was_never_written_is_not_found(context: CallContext) -> None:
    assert (await read(context, "none"))["found"] is False


async def test_a_value_that_changed_meanwhile_is_not_overwritten(sqlite_store: SqlStore, context: CallContext) -> None:
    await write(sqlite_store, context, key="rate", value=1)

    with pytest.raises(VersionConflict):
        await write(sqlite_store, context, key="rate", value=2, expected_version=0)


async def test_without_a_board_that_is_told() -> None:
    with pytest.raises(InvalidArguments, match="has no blackboard"):
        await ReadBlackboard().call({"key": "rate"}, a_call())
