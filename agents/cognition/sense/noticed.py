"""What one run of a sensor noticed, as alerts take it in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.cognition.sense.sensors import SensorRun
from agents.cognition.sense.telling import Merged
from contracts import SignalKind
from governance.alerts import Noted, noted


def noticed(run: SensorRun) -> Sequence[Noted]:
    """Return the new signals and what was merged into earlier ones.

    One that was told before is given again: it counts as a repetition, and nothing is lost by a process that died
    before the alerts had it.
    """
    return [*(_again(merged) for merged in run.merged if _fires(merged)), *(noted(signal) for signal in run.signals)]


def going_on(run: SensorRun) -> Sequence[Noted]:
    """Return the further periods of episodes that were raised before: without them an alert would seem to be over."""
    return [_again(merged) for merged in run.merged if _fires(merged) and not merged.known]


def _fires(merged: Merged) -> bool:
    """Whether it is one more of what goes on; an end that was told before is none."""
    return merged.signal.kind is not SignalKind.CLEARED


def _again(merged: Merged) -> Noted:
    """Return what was merged; a further period of an episode is a signal of its own for alerts."""
    again = noted(merged.signal)
    if not merged.bucket or merged.bucket == merged.signal.bucket:
        return again
    return replace(again, key=f"{again.key}@{merged.bucket}", about=merged.bucket, value=None)
