"""What one run of a sensor noticed, as alerts take it in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.cognition.sense.sensors import SensorRun
from governance.alerts import Noted, noted


def noticed(run: SensorRun) -> Sequence[Noted]:
    """Return the new signals and what was merged into earlier ones.

    A further period of an episode says that it goes on, so it is a signal of its own there. One that was told before is
    given again: it counts as a repetition, and nothing is lost by a process that died before the alerts had it.
    """
    found = [noted(signal) for signal in run.signals]
    for merged in run.merged:
        again = noted(merged.signal)
        if merged.bucket and merged.bucket != merged.signal.bucket:
            again = replace(again, key=f"{again.key}@{merged.bucket}", about=merged.bucket, value=None)
        found.append(again)
    return found
