"""The drivers that work on this machine, for suites that run over all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cluster.sandbox import BubblewrapDriver, RlimitsDriver, SandboxDriver
from cluster.sandbox.bubblewrap import why_not
from cluster.sandbox.inside import landlock
from runtime.settings import SlotSettings
from tests.fakes.slot_users import BUBBLEWRAP, LANDLOCK, RLIMITS

MakeDriver = Callable[[SlotSettings], SandboxDriver]


def _rlimits(settings: SlotSettings) -> SandboxDriver:
    return RlimitsDriver.for_slot(settings, RLIMITS)


def _landlock(settings: SlotSettings) -> SandboxDriver:
    return RlimitsDriver.for_slot(settings, LANDLOCK, use_landlock=True)


def _bubblewrap(settings: SlotSettings) -> SandboxDriver:
    return BubblewrapDriver.for_slot(settings, BUBBLEWRAP)


_NO_BUBBLEWRAP = pytest.mark.skipif(bool(why_not()), reason=why_not())
_NO_LANDLOCK = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")
DRIVERS = [
    pytest.param(_bubblewrap, id="bubblewrap", marks=_NO_BUBBLEWRAP),
    pytest.param(_rlimits, id="rlimits"),
    pytest.param(_landlock, id="rlimits+landlock", marks=_NO_LANDLOCK),
]
