"""Python of the folder that belongs to no order, such as that of metrics: run in a sandbox of its own, one at a time.

It gets what a script in a slot gets: the same limits, a user of its own where there are users to give, an empty folder,
no network and no secret.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cluster.sandbox import driver_for
from contracts import Json
from runtime.canonical import to_bytes
from runtime.capabilities.python_code import result_of
from runtime.settings.home import make_home
from runtime.settings.load import Settings

_USER = 1
"""Number of its user, which is no slot's: those of nodes begin above."""


class SandboxedScripts:
    """Runs scripts of one organisation; nothing is started before the first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turn = asyncio.Lock()

    async def run(self, script: str, name: str, inputs: Mapping[str, Json]) -> Json:
        """Return what the script set as `result`.

        Raises:
            CapabilityFailed: it failed, with its name, the line and what to do about it.
            SandboxBroken: the sandbox does not work here; the script did not run.
        """
        make_home(self._settings.home)
        async with self._turn:
            driver = driver_for(self._settings.slot)(_USER)
            with tempfile.TemporaryDirectory(dir=self._settings.home, prefix="script-") as folder:
                sandbox = await driver.open(Path(folder) / "slot")
                try:
                    ended = await sandbox.run_python(script, stdin=to_bytes(dict(inputs)))
                finally:
                    await driver.close(sandbox)
        return result_of(ended, name)
