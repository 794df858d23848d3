"""Orders that wait for a slot: what is said of them, when, and when again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from console.cli.output import Output
from console.cli.render import queued
from console.cli.render.live import progress_shown, progress_so_far
from console.cli.render.outcome import outcome_lines
from console.cli.render.queued import AGAIN, PATIENCE, Waits, WaitsTold, queued_lines, queued_words, waits_lines
from console.texts import LANGUAGES, say_in
from console.views_cluster import HostsRow, QueuedFor, QueuedOrder
from contracts import OrderId, OrderState
from tests.fakes import console_application as fake
from tests.fakes.console_values import EXECUTION, outcome

NOW = datetime(2013, 2, 8, 22, tzinfo=UTC)
ORDER = QueuedOrder(OrderId.new(), EXECUTION, "desk/measure", NOW, QueuedFor.SLOT, ahead=3)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "waits for a slot: 3 ahead"),
        ({"ahead": 0}, "waits for a slot: next in line"),
        ({"waits_for": QueuedFor.NODE}, "waits for a node: every one that fits is cordoned or draining"),
        ({"waits_for": QueuedFor.LABELS, "missing": ("browser",)}, "waits: no node offers label browser"),
        ({"waits_for": QueuedFor.LABELS, "missing": ("a", "b")}, "waits: no node offers labels a, b"),
        ({"waits_for": QueuedFor.BRIDGE, "missing": ("till.refund",)}, "waits: no bridge is there that carries out"),
        ({"waits_for": QueuedFor.LIMITS, "missing": ("network",)}, "waits: no node can hold network"),
    ],
)
def test_what_an_order_waits_for_is_said_in_words(changes: dict[str, object], said: str) -> None:
    words = [queued_words(replace(ORDER, **changes), say_in(language)) for language in LANGUAGES]  # type: ignore[arg-type]

    assert words[0].startswith(said) and words[0] != words[1]
    assert all(name in each for name in changes.get("missing", ()) for each in words)  # type: ignore[attr-defined]


def test_it_is_said_once_and_again_when_it_changes() -> None:
    told, nearer = WaitsTold(), replace(ORDER, ahead=1)
    other = replace(ORDER, waits_for=QueuedFor.LABELS, missing=("browser",))

    def news(order: QueuedOrder | None, after: timedelta) -> Sequence[QueuedOrder]:
        return told.news(Waits(NOW + after, [order] if order else [])).queued

    assert news(ORDER, timedelta()) == [ORDER]
    assert news(nearer, AGAIN / 2) == []
    assert news(nearer, AGAIN) == [nearer]
    assert news(other, AGAIN) == [other]
    assert news(None, AGAIN) == []
    assert news(other, AGAIN) == [other]


def test_hosts_that_do_not_start_are_said_for_each_try() -> None:
    told, first = WaitsTold(), HostsRow(1, 3, "A host did not start: killed.")
    lines = [
        line.plain
        for hosts in (None, first, first, replace(first, tried=2), None)
        for line in waits_lines(told.news(Waits(NOW, hosts=hosts)), say_in("en"))
    ]

    why = "tries to start them failed, tried again: A host did not start: killed."
    assert lines == [f"○ hosts of employees: {tried} of 3 {why}" for tried in (1, 2)]


def test_a_crowd_takes_four_lines() -> None:
    crowd = [replace(ORDER, order_id=OrderId.new(), ahead=number) for number in range(20)]
    lines = [line.plain.strip() for line in queued_lines(crowd, say_in("en"))]

    assert lines[0] == "○ desk/measure  waits for a slot: next in line"
    assert (len(lines), lines[-1]) == (4, "and 17 more orders")
    assert WaitsTold().news(Waits(NOW, crowd)).queued == crowd[:3]


@pytest.mark.anyio
async def test_progress_says_who_has_waited_for_a_while(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queued, "LOOK_S", 0.0)
    now, twice = datetime.now(UTC), asyncio.Event()
    application, looks = fake.FakeApplication(), list[object]()

    async def queued_orders(*executions: object) -> list[QueuedOrder]:
        looks.extend(executions)
        if len(looks) > 1:
            twice.set()
        return [replace(ORDER, since=now - PATIENCE), replace(ORDER, order_id=OrderId.new(), since=now + PATIENCE)]

    monkeypatch.setattr(application, "queued_orders", queued_orders, raising=False)
    output = Output(say_in("en"), "en", as_json=False)
    async with (
        asyncio.timeout(30),
        progress_shown(
            application,
            output,
            lambda event: None,
            await progress_so_far(application, EXECUTION),  # type: ignore[arg-type]
        ),
    ):
        await twice.wait()

    assert set(looks) == {EXECUTION}
    assert capsys.readouterr().err.splitlines() == ["○ desk/measure  waits for a slot: 3 ahead"]


def test_an_execution_that_is_shown_tells_what_of_it_waits(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(say_in("zh"), "zh", as_json=False)
    shown = replace(outcome(), state=OrderState.RUNNING, queued=(ORDER,))
    output.show(*outcome_lines(shown, output))

    assert "○ desk/measure  等待槽位：前面还有 3 个" in capsys.readouterr().out
    assert timedelta(seconds=2) == PATIENCE


@pytest.mark.anyio
async def test_work_goes_on_where_the_queue_cannot_be_looked_at_and_the_log_says_why(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queued, "LOOK_S", 0.0)
    application, looked = fake.FakeApplication(), asyncio.Event()

    async def queued_orders(*executions: object) -> list[QueuedOrder]:
        looked.set()
        raise ValueError("a fault of the program")

    monkeypatch.setattr(application, "queued_orders", queued_orders)
    output, so_far = Output(say_in("en"), "en", as_json=False), await progress_so_far(application, EXECUTION)
    async with asyncio.timeout(30), progress_shown(application, output, lambda event: None, so_far):
        await looked.wait()

    assert "what is waited for could not be looked at" in caplog.text
