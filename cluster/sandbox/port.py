"""What a sandbox driver promises."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Protocol

from runtime.capabilities.port import Sandbox


class Lack(StrEnum):
    """What a driver may be unable to hold. The names are stable: they stand in allocations, and orders ask by them."""

    NETWORK = "network"
    """Programs without the grant can reach the network, or unix sockets of the machine."""
    READING = "reading outside the folder"
    """Programs can read whatever their user can, beside the interpreter and the system's libraries."""
    WRITING = "writing outside the folder"
    """Programs can write wherever their user can."""
    OWN_USER = "own user"
    """Programs run as the user of this program."""
    OTHER_PROGRAMS = "other programs"
    """Programs can signal or trace programs of the same user."""
    PROCESSES = "processes"
    """The number of processes is not limited."""
    KERNEL = "kernel calls"
    """Programs can make calls that no work needs and weaknesses hide in: namespaces, tracing, keyrings, mounts."""
    HIDING = "processes that hide"
    """A process that drops its environment and its session can outlive its slot."""


class SandboxDriver(Protocol):
    """One way to isolate programs. It makes a slot's folder and takes it away."""

    @property
    def name(self) -> str:
        """Name of the driver: `bubblewrap`, `rlimits+landlock`, `rlimits`, `docker`."""
        ...

    @property
    def cannot_enforce(self) -> tuple[str, ...]:
        """Limits this driver cannot hold on this machine, by the names of `Lack`."""
        ...

    @property
    def how_to_mend(self) -> str:
        """Say how this machine would get a stronger sandbox; empty where this is the strongest."""
        ...

    async def open(self, folder: Path) -> Sandbox:
        """Return a sandbox in a fresh, empty folder; what an earlier one left there is gone."""
        ...

    async def close(self, sandbox: Sandbox) -> None:
        """End every program that still runs in the sandbox and remove its folder."""
        ...
