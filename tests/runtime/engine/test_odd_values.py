from __future__ import annotations

import base64
import math
from typing import Any

import pytest

from contracts import OrderState
from runtime.capabilities.port import CallResult, NewFile
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World

pytestmark = pytest.mark.anyio

ODD: list[tuple[Any, Any]] = [
    ("a\0b", "a␀b"),
    ("\ud800", "\ufffd"),
    (math.nan, None),
    (math.inf, None),
    (2**63, 2**63),
    (b"\xff\xfe", "fffe"),
    ({1: {2}}, {"1": [2]}),
    ("航班 ✈", "航班 ✈"),
]


@pytest.mark.parametrize(("given", "kept"), ODD)
async def test_odd_values_are_stored_and_handed_on_the_same_way(
    sqlite_store: SqlStore, clock: HandClock, given: Any, kept: Any
) -> None:
    """D16: no value breaks the write and leaves the order running."""
    world = World(sqlite_store, clock, Tool("odd", lambda a, c: {"v": given}), Tool("echo", lambda a, c: dict(a)))
    order = world.order({"id": "a", "use": "odd"}, {"id": "b", "use": "echo", "with": {"v": "{{ a.v }}"}})

    report = await world.run(order)

    assert (report.state, report.output) == (OrderState.DONE, {"v": kept})
    assert await world.run(order) == report


@pytest.mark.parametrize("given", [[1], "text", None, 3])
async def test_a_result_that_is_no_object_fails_the_step_in_words(
    sqlite_store: SqlStore, clock: HandClock, given: Any
) -> None:
    world = World(sqlite_store, clock, Tool("odd", lambda a, c: CallResult(output=given)))

    report = await world.run(world.order({"id": "a", "use": "odd"}))

    assert report.error is not None and "where an object was due" in report.error.message


@pytest.mark.parametrize(
    "big",
    ["x" * 5_000_000, "x" * 50_000_000, base64.b64encode(bytes(range(256)) * 4_000).decode()],
    ids=["5 MB", "50 MB", "image"],
)
async def test_a_result_of_many_megabytes_is_kept_by_reference(
    sqlite_store: SqlStore, clock: HandClock, big: str
) -> None:
    """D14: a large value is no reason to try for ever."""
    world = World(sqlite_store, clock, Tool("big", lambda a, c: {"text": big}))
    order = world.order({"id": "a", "use": "big"}, plan={"gives": {"n": 1}})

    assert (await world.run(order)).state is OrderState.DONE
    events = await sqlite_store.ledger.read(str(order.order_id))
    assert max(len(event.model_dump_json()) for event in events) < 5_000


async def test_a_file_is_stored_in_the_commit_of_its_step(sqlite_store: SqlStore, clock: HandClock) -> None:
    file = NewFile("report.md", "text/markdown", b"# Report\n\x00")
    world = World(sqlite_store, clock, Tool("write", lambda a, c: CallResult(output={}, files=[file])))

    report = await world.run(world.order({"id": "a", "use": "write"}))

    (artifact,) = report.artifacts
    assert await sqlite_store.blobs.get(artifact.sha256) == file.data
