"""The real browser of this machine in a real slot; tests are skipped, with the reason, where it is missing."""

from __future__ import annotations

import pytest

from cluster.sandbox import SandboxDriver, driver_for
from runtime.capabilities.browser.session import installed
from runtime.settings import BrowserSettings, SlotSettings
from tests.fakes.slot_users import BROWSER


def browsing_driver() -> SandboxDriver:
    """Return the driver of a slot in which the browser works."""
    return driver_for(SlotSettings())(BROWSER)


def _why_not() -> str:
    found = installed(BrowserSettings())
    if isinstance(found, str):
        return found
    return "" if browsing_driver().name == "bubblewrap" else "bubblewrap does not work on this machine"


NEEDS_BROWSER = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "there is one")
