"""What runs of a sensor become among the alerts: episodes go on, and what is over stays over."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agents.cognition.sense import SensorRun
from agents.cognition.sense.noticed import going_on, noticed
from agents.cognition.sense.telling import Merged
from contracts import Severity, Signal, SignalId, SignalKind
from governance.alerts import Alerts
from runtime.ledger.store import SqlStore
from tests.governance.alerts.raw import HOUR, ORGANISATION, START, rules

pytestmark = pytest.mark.anyio


def signal(kind: SignalKind = SignalKind.THRESHOLD, bucket: str = "2026-03-02T07:00") -> Signal:
    return Signal(
        signal_id=SignalId.new(), organisation=ORGANISATION, sensor="sales", kind=kind, metric="sold", bucket=bucket,
        dimensions={"shop": "a"}, value=3.0, n=10, severity=Severity.HIGH, key="sales:2026-03-02T07:00:shop=a",
        at=START,
    )  # fmt: skip


def run(*signals: Signal, merged: tuple[Merged, ...] = ()) -> SensorRun:
    return SensorRun("sales", START, 2, signals, merged)


async def test_a_further_period_of_an_episode_keeps_its_alert_alive(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules())
    first = signal()
    await alerts.note(noticed(run(first)), START)

    for hour in range(1, 50):
        further = Merged(first, f"2026-03-0{2 + hour // 24}T{hour % 24:02}:00", "shop=a", known=False)
        await alerts.note(going_on(run(merged=(further,))), START + hour * HOUR)

    assert [view.signals for view in await alerts.open(START + timedelta(hours=50))] == [50]


async def test_a_period_that_was_told_before_counts_once(sqlite_store: SqlStore) -> None:
    alerts = Alerts(sqlite_store, ORGANISATION, rules())
    first = signal()
    await alerts.note(noticed(run(first)), START)

    again = await alerts.note(noticed(run(merged=(Merged(first, str(first.bucket), "shop=a", known=True),))), START)

    assert again.why == {"duplicate": 1}
    assert going_on(run(merged=(Merged(first, str(first.bucket), "shop=a", known=True),))) == []


def test_an_end_that_was_told_before_is_not_told_again() -> None:
    over = Merged(signal(SignalKind.CLEARED), "2026-03-02T08:00", "shop=a", known=True)

    assert (noticed(run(merged=(over,))), going_on(run(merged=(over,)))) == ([], [])
