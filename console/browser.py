"""Whether the slots of this machine have a browser: what is installed, and how its last start went.

A browser is started at first use only, and that start is the test: one that fails is kept in `HOME/browser.json`, and
from then on this machine does not offer the label `browser`, until something about it changes or `silicon doctor ORG`
sees it start.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from agents.organisation import Organisation
from cluster.sandbox import SandboxDriver, driver_for
from console.views_system import Examined, Health
from contracts import Json
from runtime.canonical import sha256
from runtime.capabilities.browser.session import BrowserSession, Installed, installed
from runtime.capabilities.browser.sites import Sites
from runtime.capabilities.browser.specs import LABEL, SPECS
from runtime.errors import SiliconError
from runtime.settings.home import make_home
from runtime.settings.load import Settings

_FILE = "browser.json"
_DRIVERS = frozenset({"bubblewrap"})
"""Drivers with a network of the slot's own, in which the browser finds nothing but its proxy."""


class SlotBrowser:
    """The browser of this machine's slots."""

    def __init__(self, settings: Settings, driver: SandboxDriver) -> None:
        self._settings = settings
        self._driver = driver
        self._file = settings.home / _FILE

    @property
    def labels(self) -> tuple[str, ...]:
        """What the node offers: the label, unless something is missing or the last start failed."""
        return () if self._missing() or self._failure() else (LABEL,)

    def record(self, why_not: str | None) -> None:
        """Keep how a start went; None when it worked."""
        if why_not is None and not self._file.exists():
            return
        make_home(self._settings.home)
        told: dict[str, Json] = {"of": self._key(), "why_not": why_not}
        self._file.write_text(json.dumps(told), encoding="utf-8")

    async def examine(self, *, start: bool) -> Examined:
        """Say whether there is one and how it is mended; with `start` it is really started once."""
        missing = await asyncio.to_thread(self._missing)
        if missing:
            return Examined("browser", Health.NOTE, "slots have no browser", missing)
        try:
            said = await self._started() if start else ""
        except SiliconError as error:
            await asyncio.to_thread(self.record, error.message)
            return Examined("browser", Health.BROKEN, error.message, _HOW, facts={"said": error.facts.get("said")})
        if start:
            await asyncio.to_thread(self.record, None)
            return Examined("browser", Health.GOOD, f"Chromium {said} starts in a slot")
        failure = await asyncio.to_thread(self._failure)
        if failure:
            return Examined("browser", Health.BROKEN, failure, _HOW)
        return Examined("browser", Health.GOOD, "Chromium and playwright are there; started when a page is opened")

    async def _started(self) -> str:
        """Start a browser in a slot of its own and end it; return its version."""
        found = installed(self._settings.browser)
        assert isinstance(found, Installed)
        make_home(self._settings.home)
        with tempfile.TemporaryDirectory(dir=self._settings.home, prefix="browser-") as folder:
            sandbox = await self._driver.open(Path(folder) / "slot")
            try:
                session = await BrowserSession.start(sandbox, Sites([]), self._settings.browser, found)
                await session.end()
                return session.version
            finally:
                await self._driver.close(sandbox)

    def _missing(self) -> str:
        found = installed(self._settings.browser)
        if isinstance(found, str):
            return f"To have one: {found}."
        if self._driver.name not in _DRIVERS:
            return (
                f"To have one, use the sandbox driver bubblewrap (apt-get install bubblewrap), not {self._driver.name}."
            )
        return ""

    def _failure(self) -> str:
        """Return why the last start failed; empty when it did not, or something changed since."""
        try:
            told = json.loads(self._file.read_text(encoding="utf-8"))
            return str(told["why_not"] or "") if told["of"] == self._key() else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def _key(self) -> str:
        """Return what tells this browser, and how it is started, from another one."""
        found = installed(self._settings.browser)
        if isinstance(found, str):
            return ""
        state = found.executable.stat()
        try:
            driven_by = version("playwright")
        except PackageNotFoundError:
            driven_by = ""
        return sha256(
            [
                str(found.executable), state.st_mtime_ns, state.st_size, str(found.interpreter), driven_by,
                self._driver.name, self._settings.browser.model_dump(mode="json"),
            ]
        )  # fmt: skip


_HOW = (
    "Start it by hand to see more: chromium --headless --dump-dom about:blank. Its needs are in docs/capabilities.md, "
    "under Browser; the settings browser.* are its limits."
)


def opens_pages(organisation: Organisation) -> bool:
    """Whether anybody there may use the browser."""
    names = {spec.name for spec in SPECS}
    return any(names.intersection(employee.can) for employee in organisation.employees.values())


def slot_browser(settings: Settings) -> SlotBrowser:
    """Return the browser of this machine's slots; nothing is started."""
    return SlotBrowser(settings, driver_for(settings.slot)(0))
