"""The whole browser: Chromium in a slot of this machine, driven through the capabilities, on pages that mean harm."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image

from contracts import EvidenceKind
from runtime.canonical import sha256
from runtime.capabilities.browser.capability import Browsers, browser_capabilities
from runtime.capabilities.browser.errors import BrowserUnavailable, NoPageOpen, PageChanged, PageLost
from runtime.capabilities.browser.session import Installed, installed
from runtime.capabilities.browser.sites import Sites
from runtime.capabilities.connections import read_connection
from runtime.capabilities.port import CallResult, Sandbox
from runtime.capabilities.registry import Registry
from runtime.capabilities.router import Router
from runtime.errors import (
    BusinessRefusal,
    CapabilityFailed,
    CapabilityTimeout,
    InvalidArguments,
    NetworkFault,
    PermissionRefused,
)
from runtime.settings import BrowserSettings
from tests.fakes.browsing import NEEDS_BROWSER, browsing_driver
from tests.fakes.calls import a_call
from tests.fakes.hostile_site import Site, a_site

pytestmark = [pytest.mark.anyio, NEEDS_BROWSER, pytest.mark.timeout(300), pytest.mark.xdist_group("browser")]
PATIENT, HASTY = BrowserSettings(timeout_s=60, start_s=120), BrowserSettings(timeout_s=15, start_s=120, transfer_mib=2)


class Browsing:
    """An order whose steps call the browser."""

    def __init__(self, sandbox: Sandbox, site: Site, settings: BrowserSettings) -> None:
        connection = {"kind": "http", "base": site.url, "allow_private": True, "pages": {}}
        self.site = site
        self.sandbox = sandbox
        self.browsers = Browsers(Sites.of({"desk": read_connection(connection)}, {}), settings)
        self._router = Router(Registry(browser_capabilities(self.browsers)))

    async def do(self, what: str, **arguments: Any) -> CallResult:
        """Call one capability as a step does."""
        called = await self._router.call(f"browser.{what}", arguments, a_call(sandbox=self.sandbox), timeout_s=None)
        assert isinstance(called, CallResult)
        return called

    async def open(self, path: str) -> CallResult:
        return await self.do("open", url=self.site.url + path)

    async def begin(self) -> CallResult:
        """Open the first page; a busy machine may need longer for it than a hasty browser waits."""
        for _ in range(4):
            with contextlib.suppress(CapabilityTimeout):
                return await self.open("/")
        return await self.open("/")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One loop for the module, so that the tests can share a browser."""
    return "asyncio"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with a_site() as site:
        yield site


@pytest.fixture(scope="module")
async def slot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    driver = browsing_driver()
    sandbox = await driver.open(tmp_path_factory.mktemp("slots") / "slot")
    yield sandbox
    await driver.close(sandbox)


@pytest.fixture(scope="module")
async def browsing(slot: Sandbox, site: Site) -> Browsing:
    return Browsing(slot, site, PATIENT)


@pytest.fixture(scope="module")
async def hasty(slot: Sandbox, site: Site) -> Browsing:
    return Browsing(slot, site, HASTY)


def picture(called: CallResult) -> Image.Image:
    """Return the picture as it lies in the store."""
    image = Image.open(io.BytesIO(called.files[0].data))
    image.load()
    return image


async def test_a_page_is_opened_read_acted_on_and_seen(browsing: Browsing, site: Site) -> None:
    opened = await browsing.open("/")
    read = await browsing.do("read")
    await browsing.do("type", role="textbox", name="Reason", text="storm — 暴风雪")
    clicked = await browsing.do(
        "click", role="button", name="Save", seen=(await browsing.do("read")).output["text_sha256"]
    )

    assert (opened.output["title"], opened.output["status"], opened.output["whole"]) == ("Desk 服务台", 200, True)
    assert '- heading "Waivers 免除" [level=1]' in read.output["text"]
    assert clicked.output["title"] == "Saved"
    assert site.posted[-1][1].startswith(b"reason=storm+%E2%80%94+")


async def test_a_screenshot_is_evidence_with_the_bytes_of_a_picture_that_shows_something(browsing: Browsing) -> None:
    await browsing.open("/")

    shot = await browsing.do("screenshot", name="desk.png")

    image = picture(shot)
    assert image.format == "PNG"
    assert image.size == (shot.output["width"], shot.output["height"]) == (1280, 800)
    assert len(image.convert("RGB").getcolors(maxcolors=1 << 20) or ()) > 10
    item, file = shot.evidence[0], shot.files[0]
    assert item.kind is EvidenceKind.SCREENSHOT
    assert item.sha256 == shot.output["sha256"] == sha256(file.data)
    assert (file.name, file.media_type, item.facts["title"]) == ("desk.png", "image/png", "Desk 服务台")


async def test_a_picture_of_the_whole_page_holds_what_lies_below_the_window(browsing: Browsing) -> None:
    shot = await browsing.do("screenshot", url=f"{browsing.site.url}/tall", whole_page=True)

    image = picture(shot).convert("RGB")
    red, _, blue = image.getpixel((600, 30)), None, image.getpixel((600, image.height - 30))
    assert image.height > 2_900
    assert red[0] > 200 > red[2]
    assert blue[2] > 200 > blue[0]


async def test_an_act_leaves_a_picture_of_what_came_of_it(browsing: Browsing) -> None:
    await browsing.open("/changes")

    clicked = await browsing.do("click", role="button", name="Go")

    assert [item.kind for item in clicked.evidence] == [EvidenceKind.CALL, EvidenceKind.SCREENSHOT]
    assert picture(clicked).size == (1280, 800)


async def test_text_is_bounded_and_its_hash_is_over_all_of_it(browsing: Browsing) -> None:
    await browsing.open("/")

    some, whole = await browsing.do("read", characters=10), await browsing.do("read", within="body")

    assert len(some.output["text"]) == 10
    assert some.output["length"] == whole.output["length"] > 100
    assert some.output["text_sha256"] == whole.output["text_sha256"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"role": "button", "name": "Nowhere"}, "nothing like a button named 'Nowhere'"),
        ({"role": "button", "name": "Twin"}, "2 a button named 'Twin' and one is due"),
        ({"role": "button", "name": "Under"}, "covered"),
        ({"selector": "#nothing"}, "nothing like the selector #nothing"),
        ({"selector": "]["}, "Nothing was done"),
        ({"role": "button"}, "needs `role` and `name`"),
    ],
)
async def test_what_cannot_be_clicked_is_told_and_nothing_was_done(
    hasty: Browsing, arguments: dict[str, str], words: str
) -> None:
    await hasty.begin()

    with pytest.raises(InvalidArguments, match=words) as raised:
        await hasty.do("click", **arguments)

    assert raised.value.facts["happened"] == "no"


async def test_a_page_that_changed_since_it_was_seen_is_not_acted_on(browsing: Browsing) -> None:
    await browsing.open("/changes")
    seen = (await browsing.do("read")).output["text_sha256"]
    await browsing.do("click", role="button", name="Go", seen=seen)

    with pytest.raises(PageChanged) as raised:
        await browsing.do("click", role="button", name="Go", seen=seen)

    assert raised.value.facts["happened"] == "no"


async def test_a_page_that_is_only_looked_at_sends_nothing(browsing: Browsing, site: Site) -> None:
    opened = await browsing.open("/sends")

    assert opened.output["title"] == "held"
    assert opened.output["noticed"]["held_back"] == [{"method": "POST", "url": f"{site.url}/steal"}]
    assert "/steal" not in [path for path, _ in site.posted]


async def test_other_hosts_are_out_of_the_page_s_reach_and_that_is_told(browsing: Browsing) -> None:
    opened = await browsing.open("/outside")

    assert opened.output["noticed"]["refused"] == ["169.254.169.254", "elsewhere.example"]


async def test_dialogs_are_closed_without_agreeing_to_anything(browsing: Browsing) -> None:
    opened = await browsing.open("/alert")

    assert opened.output["title"] == "no"
    assert [dialog["text"] for dialog in opened.output["noticed"]["dialogs"]] == ["one", "sure?"]


async def test_pop_ups_are_closed_and_their_addresses_told(browsing: Browsing, site: Site) -> None:
    opened = await browsing.open("/pop-up")

    assert opened.output["noticed"]["pop_ups"] == [f"{site.url}/next"]
    assert (await browsing.do("read")).output["title"] == "Pop"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("/never", CapabilityTimeout, "not done within 15 s"),
        ("/loop", NetworkFault, "TOO_MANY_REDIRECTS"),
        ("/download", BusinessRefusal, "a file to download"),
        ("/big", BusinessRefusal, "more than 2 MiB"),
        ("/missing", BusinessRefusal, r"said no \(404\): Not here"),
        ("/broken", NetworkFault, r"on its own side \(500\)"),
    ],
)
async def test_a_page_that_does_not_open_is_a_typed_error_and_the_next_one_opens(
    hasty: Browsing, path: str, error: type[CapabilityFailed], words: str
) -> None:
    with pytest.raises(error, match=words):
        await hasty.open(path)

    assert (await hasty.open("/next")).output["title"] == "Next"


@pytest.mark.thorough
async def test_a_script_that_never_ends_is_ended_and_the_next_page_opens(hasty: Browsing) -> None:
    with pytest.raises(CapabilityTimeout, match="hung and was closed"):
        await hasty.open("/spin")

    assert (await hasty.open("/next")).output["title"] == "Next"


@pytest.mark.thorough
async def test_an_act_that_the_page_does_not_survive_is_not_said_to_have_done_nothing(hasty: Browsing) -> None:
    await hasty.open("/trap")

    with pytest.raises(CapabilityTimeout) as raised:
        await hasty.do("click", role="button", name="Go")

    assert "happened" not in raised.value.facts
    assert (await hasty.open("/next")).output["title"] == "Next"


async def test_a_page_that_crashes_is_told_and_the_next_one_opens(browsing: Browsing) -> None:
    session = await browsing.browsers.of(browsing.sandbox)
    with pytest.raises(PageLost, match="crashed"):
        await session.ask("open", url="chrome://crash")

    assert (await browsing.open("/next")).output["title"] == "Next"


async def test_a_browser_that_is_killed_is_told_and_the_next_page_opens_in_a_new_one(browsing: Browsing) -> None:
    await browsing.open("/next")
    for browser in in_slot(browsing.sandbox.folder, only=is_main):
        browser.kill()

    with pytest.raises(PageLost):
        await browsing.do("read")
    with pytest.raises(NoPageOpen, match="`url`"):
        await browsing.do("read")

    assert (await browsing.do("read", url=f"{browsing.site.url}/next")).output["title"] == "Next"


def program(folder: Path, lines: str) -> BrowserSettings:
    """Return settings under which these lines of shell are the browser."""
    executable = folder / "own-browser"
    executable.write_text(f"#!/bin/sh\n{lines}\n")
    folder.chmod(0o755)
    executable.chmod(0o755)
    return PATIENT.model_copy(update={"executable": str(executable)})


async def test_a_browser_that_is_killed_while_it_starts_is_started_again(
    slot: Sandbox, site: Site, tmp_path: Path
) -> None:
    once = f'[ -e "$HOME/tried" ] || {{ touch "$HOME/tried"; kill -9 $$; }}; exec {found_browser()} "$@"'
    other = Browsing(slot, site, program(tmp_path, once))

    assert (await other.open("/next")).output["title"] == "Next"
    assert (slot.folder / "tried").exists()
    await other.browsers.close()


async def test_a_browser_that_ends_whenever_it_starts_is_told_with_its_last_words(
    slot: Sandbox, site: Site, tmp_path: Path
) -> None:
    other = Browsing(slot, site, program(tmp_path, "echo no room >&2; exit 3"))

    with pytest.raises(BrowserUnavailable, match=r"ended while it started \(exit code 3: no room\)\. `silicon"):
        await other.open("/next")


async def test_a_call_that_is_stopped_ends_its_browser_and_the_next_one_works(browsing: Browsing, site: Site) -> None:
    await browsing.open("/next")
    site.asked_for_ever.clear()
    session = await browsing.browsers.of(browsing.sandbox)
    opening = asyncio.create_task(browsing.open("/never"))
    await asyncio.to_thread(site.asked_for_ever.wait, 60)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

    assert session.lost
    assert (await browsing.open("/next")).output["title"] == "Next"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://crash", "http://169.254.169.254/"])
async def test_an_address_that_no_connection_declares_never_reaches_the_browser(browsing: Browsing, url: str) -> None:
    with pytest.raises((InvalidArguments, PermissionRefused)) as raised:
        await browsing.do("open", url=url)
    assert raised.value.facts["happened"] == "no"


async def test_each_order_has_a_browser_of_its_own_and_nothing_of_it_stays(site: Site, tmp_path: Path) -> None:
    driver = browsing_driver()
    titles = []
    for number in range(2):
        sandbox = await driver.open(tmp_path / f"slot-{number}")
        other = Browsing(sandbox, site, PATIENT)
        titles += [(await other.open("/cookie")).output["title"] for _ in range(2)]
        await driver.close(sandbox)

    assert titles == ["none", "a=1", "none", "a=1"]
    assert not Path(sandbox.folder).exists()  # noqa: ASYNC240
    assert in_slot(sandbox.folder) == []


def found_browser() -> Path:
    found = installed(BrowserSettings())
    assert isinstance(found, Installed)
    return found.executable


def is_main(process: psutil.Process) -> bool:
    """Whether it is a browser, and none of the processes that one starts."""
    return "chromium" in process.name() and "--type=" not in " ".join(process.cmdline())


def in_slot(folder: Path, *, only: Callable[[psutil.Process], bool] = lambda _: True) -> list[psutil.Process]:
    """Return the processes of one slot; other suites on this machine have slots and browsers, too."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # it ends while it is looked at
            alive = process.status() != psutil.STATUS_ZOMBIE and process.environ().get("HOME") == str(folder)
            if alive and only(process):
                found.append(process)
    return found
