"""The drivers that work on this machine, for suites that run over all of them."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from cluster.sandbox import BubblewrapDriver, RlimitsDriver, SandboxDriver
from cluster.sandbox.bubblewrap import why_not
from cluster.sandbox.inside import landlock
from runtime.settings import SlotSettings

MakeDriver = Callable[[SlotSettings], SandboxDriver]
_USERS = 4 * (os.getpid() % 100_000)
"""Slots of this process have users of their own: with those of another, each would end the other's programs."""


def _rlimits(settings: SlotSettings) -> SandboxDriver:
    return RlimitsDriver.for_slot(settings, _USERS + 1)


def _landlock(settings: SlotSettings) -> SandboxDriver:
    return RlimitsDriver.for_slot(settings, _USERS + 2, use_landlock=True)


def _bubblewrap(settings: SlotSettings) -> SandboxDriver:
    return BubblewrapDriver.for_slot(settings, _USERS + 3)


_NO_BUBBLEWRAP = pytest.mark.skipif(bool(why_not()), reason=why_not())
_NO_LANDLOCK = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")
DRIVERS = [
    pytest.param(_bubblewrap, id="bubblewrap", marks=_NO_BUBBLEWRAP),
    pytest.param(_rlimits, id="rlimits"),
    pytest.param(_landlock, id="rlimits+landlock", marks=_NO_LANDLOCK),
]
