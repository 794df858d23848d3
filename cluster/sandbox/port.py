"""What a sandbox driver promises."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from runtime.capabilities.port import Sandbox


class SandboxDriver(Protocol):
    """One way to isolate programs. It makes a slot's folder and takes it away."""

    @property
    def name(self) -> str:
        """Name of the driver: `rlimits`, `bubblewrap`, `docker`."""
        ...

    @property
    def cannot_enforce(self) -> tuple[str, ...]:
        """Limits this driver cannot hold on this machine, by name; an order that needs one is not placed here."""
        ...

    async def open(self, folder: Path) -> Sandbox:
        """Return a sandbox in a fresh, empty folder; what an earlier one left there is gone."""
        ...

    async def close(self, sandbox: Sandbox) -> None:
        """End every program that still runs in the sandbox and remove its folder."""
        ...
