"""Which driver a machine uses: the strongest that works here, or the one that the setting `slot.driver` names."""

from __future__ import annotations

from collections.abc import Callable

from cluster.errors import SandboxBroken
from cluster.sandbox import bubblewrap, docker
from cluster.sandbox.inside import landlock
from cluster.sandbox.port import SandboxDriver
from cluster.sandbox.rlimits import RlimitsDriver
from runtime.settings import SlotSettings


def driver_for(settings: SlotSettings) -> Callable[[int], SandboxDriver]:
    """Return what gives the driver of a slot, by the number of the slot's own user.

    Raises:
        SandboxBroken: the driver that the settings name does not work on this machine.
    """
    match settings.driver:
        case "bubblewrap" if why := bubblewrap.why_not():
            raise SandboxBroken(
                f"The setting slot.driver is bubblewrap, and it does not work on this machine: {why}. "
                "docs/operations.md says what it needs; or set slot.driver to auto."
            )
        case "docker" if why := docker.why_not(settings.docker_image):
            raise SandboxBroken(f"The setting slot.driver is docker, and it does not work on this machine: {why}.")
        case "docker":
            return lambda index: docker.DockerDriver.for_slot(settings, index)
        case "auto" | "bubblewrap" if not bubblewrap.why_not():
            return lambda index: bubblewrap.BubblewrapDriver.for_slot(settings, index)
        case "rlimits":
            return lambda index: RlimitsDriver.for_slot(settings, index)
        case "rlimits+landlock" if landlock.abi() == 0:
            raise SandboxBroken(
                "The setting slot.driver is rlimits+landlock, and this kernel has no Landlock. It needs Linux 5.13 or "
                "newer, with `landlock` in /sys/kernel/security/lsm; or set slot.driver to auto.",
            )  # fmt: skip
        case _:
            return lambda index: RlimitsDriver.for_slot(settings, index, use_landlock=True)
