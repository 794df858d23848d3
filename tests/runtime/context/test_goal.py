"""The goal stands word by word, the plan around the present step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.context.goal import Mark, Outlined, plan_part


def a_plan(count: int, now: int) -> list[Outlined]:
    marks = [Mark.DONE if n < now else Mark.NOW if n == now else Mark.OPEN for n in range(count)]
    return [Outlined(f"s{n}", mark, f"Does thing {n}.") for n, mark in enumerate(marks)]


def test_a_short_plan_is_told_whole() -> None:
    part = plan_part(a_plan(3, 1), most=2_000)

    assert part is not None and part.pinned
    assert part.text.splitlines() == [
        "Plan:", "- s0 (done): Does thing 0.", "- s1 (now): Does thing 1.", "- s2 (to do): Does thing 2.",
    ]  # fmt: skip


def test_one_step_needs_no_plan() -> None:
    assert plan_part(a_plan(1, 0), most=2_000) is None


def test_what_is_done_takes_half_the_room_at_most_and_is_counted_by_how_it_stands() -> None:
    part = plan_part([Outlined("lost", Mark.FAILED, ""), *a_plan(100, 99)], most=600)

    assert part is not None
    lines = part.text.splitlines()[1:]
    assert sum(len(line) + 1 for line in lines if "(done)" in line) <= 300
    assert lines[0].startswith("… ") and lines[0].endswith(" done") and ": 1 failed, " in lines[0]
    assert lines[-1] == "- s99 (now): Does thing 99."


@given(st.integers(2, 500), st.data(), st.integers(100, 3_000))
def test_a_long_plan_is_told_around_the_present_step_and_counts_the_rest(
    count: int, data: st.DataObject, most: int
) -> None:
    now = data.draw(st.integers(0, count - 1))
    part = plan_part(a_plan(count, now), most=most)

    assert part is not None and f"- s{now} (now)" in part.text
    assert len(part.text) <= most + 80
    lines = part.text.splitlines()[1:]
    shown = [line for line in lines if line.startswith("- ")]
    hidden = sum(int(line.split()[1].replace(",", "")) for line in lines if line.startswith("…"))
    assert len(shown) + hidden == count
