"""How memories fade, against the closed formula."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import MemoryClass, MemoryId, MemoryRecord
from memory.records.decay import importance_now, is_fading_out, may_be_injected, read_again
from runtime.settings import MemorySettings
from tests.fakes.memories import BUSINESS, ORGANISATION

SETTINGS = MemorySettings()
BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)


def a_record(memory_class: MemoryClass, importance: float = 1.0, at: datetime = BEGAN) -> MemoryRecord:
    return MemoryRecord(
        memory_id=MemoryId.new(), version=1, organisation=ORGANISATION, kind="semantic", memory_class=memory_class,  # type: ignore[arg-type]
        holder=BUSINESS, text="x", importance=importance, valid_from=at, created_at=at, changed_at=at, accessed_at=at,
        written_by="ann",
    )  # fmt: skip


@settings(max_examples=50)
@given(
    importance=st.floats(0, 1), days=st.integers(0, 5_000), seconds=st.integers(-43_199, 43_199),
    memory_class=st.sampled_from(MemoryClass),
)  # fmt: skip
def test_it_is_the_closed_formula_over_years(
    importance: float, days: int, seconds: int, memory_class: MemoryClass
) -> None:
    record = a_record(memory_class, importance)
    now = BEGAN + timedelta(days=days, seconds=seconds)
    rates = {MemoryClass.PREFERENCE: 0.5 ** (1 / 90), MemoryClass.TASK: 0.5 ** (1 / 7), MemoryClass.OTHER: 0.9}
    assert importance_now(record, now, SETTINGS) == pytest.approx(importance * rates.get(memory_class, 1.0) ** days)


def test_one_that_is_never_read_is_faint_on_day_twenty_nine_and_not_before() -> None:
    record = a_record(MemoryClass.OTHER)
    faint = [day for day in range(60) if is_fading_out(record, BEGAN + timedelta(days=day), SETTINGS)]
    assert faint[0] == 29 and faint == list(range(29, 60))


def test_half_of_a_preference_is_left_after_ninety_days_and_of_a_task_after_seven() -> None:
    assert importance_now(a_record(MemoryClass.PREFERENCE), BEGAN + timedelta(days=90), SETTINGS) == pytest.approx(0.5)
    assert importance_now(a_record(MemoryClass.TASK), BEGAN + timedelta(days=7), SETTINGS) == pytest.approx(0.5)


def test_nothing_fades_on_the_day_on_which_it_was_read() -> None:
    early = a_record(MemoryClass.OTHER, at=BEGAN.replace(hour=0))
    assert importance_now(early, BEGAN.replace(hour=23, minute=59), SETTINGS) == 1.0


def test_a_clock_that_goes_back_makes_nothing_more_important() -> None:
    assert importance_now(a_record(MemoryClass.OTHER), BEGAN - timedelta(days=400), SETTINGS) == 1.0


@pytest.mark.parametrize("memory_class", [MemoryClass.RULE, MemoryClass.FACT, MemoryClass.DECISION])
def test_what_lasts_neither_fades_nor_goes_out_however_little_it_mattered(memory_class: MemoryClass) -> None:
    record = a_record(memory_class, 0.01)
    assert not is_fading_out(record, BEGAN + timedelta(days=5_000), SETTINGS)


def test_a_memory_under_a_fifth_is_not_injected_unless_it_is_a_rule() -> None:
    then = BEGAN + timedelta(days=16)  # 0.9 ** 15 = 0.206, 0.9 ** 16 = 0.185
    assert may_be_injected(a_record(MemoryClass.OTHER), then - timedelta(days=1), SETTINGS)
    assert not may_be_injected(a_record(MemoryClass.OTHER), then, SETTINGS)
    assert may_be_injected(a_record(MemoryClass.RULE, 0.01), then, SETTINGS)


def test_a_read_makes_it_a_twentieth_more_important_and_never_more_than_all() -> None:
    assert read_again(0.5, SETTINGS) == pytest.approx(0.525)
    assert read_again(0.99, SETTINGS) == 1.0
