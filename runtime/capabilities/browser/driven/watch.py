"""What happens by the way while a page is used: noted, counted, and answered as somebody who agrees to nothing."""

from __future__ import annotations

import asyncio
import contextlib
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import (
    BrowserContext,
    Dialog,
    Download,
    Error,
    Page,
    Request,
    Response,
    Route,
)
from playwright.async_api import (
    TimeoutError as TookTooLong,
)

_LOOKING = ("GET", "HEAD", "OPTIONS")
_SETTLED_S = 0.5
"""A page is settled when it has requested nothing for this long."""
_LISTED = 20
"""How many of anything that is only noted."""


class Watch:
    """The eye on one page and the guard before its requests."""

    def __init__(self) -> None:
        self.crashed = asyncio.Event()
        self.acting = False
        """Whether somebody acts on the page now, so that it may send more than a look."""
        self.status: int | None = None
        """Of the newest answer to a navigation."""
        self.noted: dict[str, list[Any]] = {}
        """What happened by the way since `begin`."""
        self._page: Page | None = None
        self._loading = 0
        self._activity = asyncio.Event()

    async def guard(self, context: BrowserContext) -> None:
        """Look after everything that opens in this context."""
        context.on("page", self._close_pop_up)
        await context.route("**/*", self._guard)

    def begin(self) -> None:
        """Note anew: a request begins."""
        self.noted = {}

    def leave_page(self) -> None:
        """Forget the page that is being left: what it still asks for is not waited for."""
        self.status, self._loading = None, 0

    def listen(self, page: Page) -> None:
        """Watch the one page there is; any other that opens is closed."""
        self._page = page
        page.on("crash", lambda _: self.crashed.set())
        page.on("dialog", self._answer_dialog)
        page.on("download", self._refuse_download)
        page.on("request", lambda _: self._count(1))
        page.on("requestfinished", lambda _: self._count(-1))
        page.on("requestfailed", self._note_failure)
        page.on("response", self._take_status)

    async def settle(self, most_s: float) -> bool:
        """Return whether the page was loaded and at rest before `most_s` seconds were over."""
        assert self._page is not None
        try:
            async with asyncio.timeout(most_s):
                await self._page.wait_for_load_state("load")
                while True:
                    self._activity.clear()
                    try:
                        await asyncio.wait_for(self._activity.wait(), _SETTLED_S)
                    except TimeoutError:
                        if self._loading <= 0:
                            return True
        except (TookTooLong, TimeoutError):
            return False

    def _count(self, more: int) -> None:
        self._loading += more
        self._activity.set()

    def _note_failure(self, request: Request) -> None:
        self._count(-1)
        self._note_failed(request.url)

    def _note_failed(self, url: str) -> None:
        host = urlsplit(url).hostname
        if host not in self.noted.get("failed", ()):
            self._note("failed", host)

    def _take_status(self, response: Response) -> None:
        assert self._page is not None
        if response.status == HTTPStatus.FORBIDDEN:  # perhaps the proxy's own answer, which knows
            self._note_failed(response.url)
        if response.request.is_navigation_request() and response.frame == self._page.main_frame:
            self.status = response.status

    async def _guard(self, route: Route) -> None:
        """Hold back what is more than a look while nobody acts on the page."""
        request = route.request
        with contextlib.suppress(Error):  # the page is gone already
            if self.acting or request.method in _LOOKING:
                await route.continue_()
                return
            self._note("held_back", {"method": request.method, "url": request.url[:300]})
            await route.abort("blockedbyclient")

    async def _answer_dialog(self, dialog: Dialog) -> None:
        """Close a dialog as somebody would who agrees to nothing; only leaving a page is not held up."""
        self._note("dialogs", {"kind": dialog.type, "text": dialog.message[:300]})
        with contextlib.suppress(Error):
            await (dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())

    async def _refuse_download(self, download: Download) -> None:
        self._note("downloads", download.suggested_filename[:300])
        with contextlib.suppress(Error):
            await download.cancel()

    async def _close_pop_up(self, page: Page) -> None:
        if self._page is None or page == self._page:
            return
        with contextlib.suppress(Error):
            await page.wait_for_load_state("domcontentloaded", timeout=2_000)  # until then it has no address
        self._note("pop_ups", page.url[:300])
        with contextlib.suppress(Error):
            await page.close()

    def _note(self, what: str, value: Any) -> None:
        noted = self.noted.setdefault(what, [])
        if len(noted) < _LISTED:
            noted.append(value)
