"""A server dies at every append it makes, before and after the commit; another one goes on as if nothing had been."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pytest

from governance.alerts import Alerts, AlertView, Matcher
from runtime.ledger.store import SqlStore
from tests.fakes.crashing_store import Crash, CrashingStore
from tests.governance.alerts.raw import ANNA, HOUR, MINUTE, START, raw, rules

pytestmark = pytest.mark.anyio


async def a_morning(alerts: Alerts, begin: int = 0) -> None:
    """Everything that happens to alerts, a commit each."""
    steps = (
        lambda: alerts.note([raw(number=1), raw("flour", shop="a")], START),
        lambda: alerts.note([raw(number=2), raw(number=1)], START + MINUTE),
        lambda: alerts.silence(Matcher({"shop": ("a",)}), ANNA, START + 2 * MINUTE, until=START + HOUR, reason="x"),
        lambda: alerts.tick(START + 15 * MINUTE),
        lambda: alerts.note([raw(kind="cleared", at=START + 20 * MINUTE)], START + 20 * MINUTE),
        lambda: alerts.tick(START + HOUR),
    )
    for step in steps[begin:]:
        await step()  # type: ignore[no-untyped-call]


def told(views: Sequence[AlertView]) -> list[tuple[object, ...]]:
    """How alerts stand, but for what only counts repetitions."""
    return [
        (view.key, view.state, view.signals, view.level, view.told_to, view.changes, view.hushes) for view in views
    ]  # fmt: skip


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("step", range(6))
async def test_whoever_goes_on_finds_everything_that_was_committed(
    sqlite_store: SqlStore, step: int, committed: bool
) -> None:
    whole = Alerts(sqlite_store, "whole", rules())
    await a_morning(whole)
    dying = Alerts(CrashingStore(sqlite_store, step, committed=committed), "killed", rules())
    with suppress(Crash):
        await a_morning(dying)

    successor = Alerts(sqlite_store, "killed", rules())
    await a_morning(successor, step + (committed and step == 2))  # a silence has no key; its maker looks before

    expected = told(await whole.recent())
    assert told(await successor.recent()) == expected
