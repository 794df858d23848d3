"""The versions of metrics in the ledger."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from contracts import MetricDefinition, RatioOf
from memory.metric_versions import Entry, FieldChange, MetricVersion, MetricVersions
from memory.metrics import MetricRegistry
from runtime.ledger.port import Store
from tests.memory.duck import Duck, cancel_rate

pytestmark = pytest.mark.anyio
NOON = datetime(2013, 2, 8, 12, tzinfo=UTC)
SENSORS = {"cancel-rate": ["bad-day"]}
RATIO = MetricDefinition(
    name="ratio", title="Ratio", ratio=RatioOf(of="cancel-rate", to="cancel-rate"), unit="share", owner="desk",
    grains=("day",),
)  # fmt: skip


async def note(store: Store, duck: Duck, *metrics: MetricDefinition, at: datetime = NOON) -> list[MetricVersion]:
    versions = MetricVersions(store.ledger, "airports")
    return await versions.note(MetricRegistry(metrics, duck.query), at=at, read_by="a person", sensors=SENSORS)


async def test_the_first_reading_defines_and_the_next_leaves_no_trace(sqlite_store: Store, duck: Duck) -> None:
    [first] = await note(sqlite_store, duck, cancel_rate())
    assert (first.entry, first.in_force_since, first.read_by) == (Entry.DEFINED, NOON, "a person")
    assert first.definition is not None and first.definition["value"] == cancel_rate().value
    assert await note(sqlite_store, duck, cancel_rate()) == []


async def test_a_change_tells_each_field_and_what_begins_anew(sqlite_store: Store, duck: Duck) -> None:
    await note(sqlite_store, duck, cancel_rate())
    [changed] = await note(sqlite_store, duck, cancel_rate(where="n > 1", description="Others."))
    assert changed.changed == (FieldChange("description", "", "Others."), FieldChange("where", "true", "n > 1"))
    assert (changed.entry, changed.recalibrates, changed.sensors) == (Entry.CHANGED, True, ("bad-day",))


async def test_words_are_a_version_after_which_nothing_begins_anew(sqlite_store: Store, duck: Duck) -> None:
    await note(sqlite_store, duck, cancel_rate())
    [changed] = await note(sqlite_store, duck, cancel_rate(title="Other", good="up"))
    assert {each.field for each in changed.changed} == {"title", "good"}
    assert changed.recalibrates is False


async def test_a_metric_made_of_others_changes_with_them(sqlite_store: Store, duck: Duck) -> None:
    await note(sqlite_store, duck, cancel_rate(), RATIO)
    changed = await note(sqlite_store, duck, cancel_rate(where="n > 1"), RATIO)
    assert [(each.metric, [field.field for field in each.changed]) for each in changed] == [
        ("cancel-rate", ["where"]),
        ("ratio", ["parts"]),
    ]
    assert all(each.recalibrates for each in changed)


async def test_a_metric_that_is_gone_and_comes_back_keeps_its_history(sqlite_store: Store, duck: Duck) -> None:
    await note(sqlite_store, duck, cancel_rate())
    [gone] = await note(sqlite_store, duck)
    [back] = await note(sqlite_store, duck, cancel_rate())
    history = await MetricVersions(sqlite_store.ledger, "airports").history("cancel-rate")
    assert [each.entry for each in history] == [Entry.DEFINED, Entry.REMOVED, Entry.DEFINED]
    assert (gone.version, back.version) == (None, history[0].version)


async def test_an_organisation_does_not_see_the_metrics_of_another(sqlite_store: Store, duck: Duck) -> None:
    await note(sqlite_store, duck, cancel_rate())
    others = MetricVersions(sqlite_store.ledger, "harbours")
    assert await others.history("cancel-rate") == []
    assert await others.note(MetricRegistry([], duck.query), at=NOON, read_by="x", sensors={}) == []


async def test_many_who_read_a_change_at_once_record_it_once(sqlite_store: Store, duck: Duck) -> None:
    await note(sqlite_store, duck, cancel_rate())
    noted = await asyncio.gather(*(note(sqlite_store, duck, cancel_rate(where="n > 1")) for _ in range(4)))
    assert sum(len(each) for each in noted) == 1
