"""The page of the desk, as a person sees it: opened in the browser of a slot, its picture kept as evidence."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from contracts import EvidenceItem, EvidenceKind
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.settings import LedgerSettings
from tests.examples.conftest import Desk
from tests.fakes.browsing import NEEDS_BROWSER

pytestmark = [NEEDS_BROWSER, pytest.mark.timeout(300), pytest.mark.xdist_group("browser")]
LOOK = "Look at the board of the desk"


async def seen(home: Path) -> tuple[list[EvidenceItem], list[bytes]]:
    """Return the screenshots in all evidence packages, and their bytes from the store."""
    store = await open_store(LedgerSettings(), home=home, clock=SystemClock())
    try:
        events = await store.ledger.read_all(limit=10_000)
        packages = [event.data["package"] for event in events if event.type == "evidence.sealed" and event.data]
        items = [EvidenceItem.read(item) for package in packages for item in package["items"]]
        shots = [item for item in items if item.kind is EvidenceKind.SCREENSHOT]
        return shots, [await store.blobs.get(item.sha256) for item in shots]
    finally:
        await store.close()


def test_what_was_approved_is_seen_on_the_page_of_the_desk(waiting: tuple[Desk, dict[str, Any]], example: Path) -> None:
    desk, said = waiting
    card = said["cards"][0]["id"]
    desk.run("approvals", "decide", card, "waive_and_notify", "--as", "duty-manager")

    looked = desk.json("run", str(example), LOOK, "--as", "duty-planner", "--at", "2013-02-08T17:00")

    assert looked["state"] == "done", looked
    assert "Waivers (1)" in looked["output"]["text"]
    assert "weather" in looked["output"]["text"]
    shots, pictures = asyncio.run(seen(desk.folder / ".silicon"))
    assert [item.sha256 for item in shots] == [looked["output"]["picture"]]
    image = Image.open(io.BytesIO(pictures[0]))
    image.load()
    assert (image.format, image.width) == ("PNG", 1280)
    assert image.height >= 800
    colours = image.convert("RGB").getcolors(maxcolors=1 << 20) or []
    assert len(colours) > 20, "a blank page has one colour"


def test_without_a_browser_the_order_says_which_label_is_missing(desk: Desk, example: Path) -> None:
    desk.environment["SILICON_BROWSER__EXECUTABLE"] = "no-such-browser"

    failed = desk.json("run", str(example), LOOK, "--as", "duty-planner", "--at", "2013-02-08T17:00", exits=1)

    assert failed["state"] == "failed"
    assert "label" in failed["error"]["message"]
    assert "browser" in failed["error"]["message"]
    assert "no-such-browser is not installed" in desk.run("doctor", str(example), exits=None)
