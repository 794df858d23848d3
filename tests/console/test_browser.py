from __future__ import annotations

import os
from pathlib import Path

import pytest

from cluster.sandbox import RlimitsDriver, SandboxDriver
from console.browser import SlotBrowser
from console.views_system import Health
from runtime.settings import BrowserSettings, SlotSettings
from runtime.settings.load import Settings
from tests.fakes.browsing import NEEDS_BROWSER, browsing_driver

pytestmark = pytest.mark.anyio


def slot_browser(home: Path, driver: SandboxDriver | None = None, executable: str = "") -> SlotBrowser:
    settings = Settings(home=home, browser=BrowserSettings(executable=executable, start_s=120))
    return SlotBrowser(settings, driver or browsing_driver())


async def test_without_chromium_there_is_no_label_and_the_doctor_says_how_to_get_it(tmp_path: Path) -> None:
    browser = slot_browser(tmp_path, executable="no-such-browser")
    found = await browser.examine(start=True)

    assert browser.labels == ()
    assert (found.health, found.what) == (Health.NOTE, "slots have no browser")
    assert "no-such-browser is not installed: apt-get install chromium" in found.mend


@NEEDS_BROWSER
async def test_a_driver_that_shares_the_network_of_the_machine_has_no_browser(tmp_path: Path) -> None:
    browser = slot_browser(tmp_path, RlimitsDriver.for_slot(SlotSettings(), 0))

    assert browser.labels == ()
    assert "bubblewrap" in (await browser.examine(start=False)).mend


@NEEDS_BROWSER
async def test_a_start_that_failed_takes_the_label_away_until_something_changes_or_one_works(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    browser = slot_browser(tmp_path, executable=str(program))
    assert browser.labels == ("browser",)

    browser.record("it does not start")
    found = await browser.examine(start=False)

    assert browser.labels == ()
    assert (found.health, found.what) == (Health.BROKEN, "it does not start")
    os.utime(program, ns=(1, 1))
    assert browser.labels == ("browser",)
    browser.record("again")
    browser.record(None)
    assert browser.labels == ("browser",)


@NEEDS_BROWSER
async def test_a_start_that_works_leaves_nothing_behind(tmp_path: Path) -> None:
    slot_browser(tmp_path).record(None)

    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240


@NEEDS_BROWSER
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("browser")
async def test_the_doctor_really_starts_it(tmp_path: Path) -> None:
    found = await slot_browser(tmp_path, browsing_driver()).examine(start=True)

    assert found.health is Health.GOOD, found.what
    assert "starts in a slot" in found.what


@NEEDS_BROWSER
@pytest.mark.timeout(300)
async def test_what_is_no_browser_is_told_by_the_doctor_and_kept(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    browser = slot_browser(tmp_path, browsing_driver(), executable=str(program))

    found = await browser.examine(start=True)

    assert found.health is Health.BROKEN
    assert "does not start in this slot" in found.what
    assert browser.labels == ()
