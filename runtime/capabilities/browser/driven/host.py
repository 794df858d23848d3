"""Drives one Chromium from inside the slot, in a process of its own, which `run` is the whole of.

Standard input and output carry JSON, a line each. The first line says how to start: `executable`, `proxy` (path of the
socket behind which the network lies), `user` and `password` for it, `width`, `height`. Each further line
is a request `{"id", "do", "timeout_s", …}`, each answer `{"id", "gave": {…}}` or `{"id", "fault": KIND, "why": TEXT}`.
KIND is one of `timeout`, `stuck` (the page answers nothing any more), `crashed`, `gone` (the browser ended), `no_page`,
`download`, `address`, `target` and `changed` (found before anything was done), `unsure` (whether it was done).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import (
    BrowserContext,
    Error,
    FloatRect,
    Locator,
    Page,
    Playwright,
    async_playwright,
)
from playwright.async_api import (
    TimeoutError as TookTooLong,
)

from .launch import Ended, launch  # noqa: TID252  loaded in the slot too, where no package of ours exists
from .relay import relay  # noqa: TID252
from .watch import Watch  # noqa: TID252

_SETTLE_S = 5.0
"""For how long is waited until a page is settled; one that never rests is used as it is."""
_INTERRUPTED = "is interrupted by another navigation"
_NO_PAGE = ("about:blank", "chrome-error:")
"""The empty page, and the one that shows why an address did not open; it may be on its way when the next one opens."""
_TALLEST = 8_000
"""Pixels of a picture of a whole page."""


class Fault(Exception):
    """What was asked for cannot be done; `kind` says to the other side who can help."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class Host:
    """One browser with one page."""

    def __init__(self, playwright: Playwright, how: dict[str, Any], proxy: str) -> None:
        self._playwright = playwright
        self._how = how
        self._proxy = proxy
        self._context: BrowserContext | None = None
        self._page: Page | None = None
        self._watch = Watch()

    @property
    def noted(self) -> dict[str, list[Any]]:
        """What happened by the way since the last request came."""
        return self._watch.noted

    async def do(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Carry one request out; raise Fault when it cannot be."""
        doing: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]] = getattr(self, f"_{asked['do']}")
        self._watch.begin()
        try:
            async with asyncio.timeout(asked["timeout_s"]):
                return await self._unless_it_crashes(doing(asked))
        except (TookTooLong, TimeoutError):
            kind = "timeout" if await self._answers() else "stuck"
            raise Fault(kind, f"it was not done within {asked['timeout_s']:g} s") from None
        except Error as error:
            with contextlib.suppress(TimeoutError):
                if "ERR_ABORTED" in (error.message or ""):  # a crash is told only afterwards
                    await asyncio.wait_for(self._watch.crashed.wait(), 1)
            raise self._fault_of(error) from None

    async def _start(self, asked: dict[str, Any]) -> dict[str, Any]:
        how = self._how
        try:
            browser = await launch(self._playwright, how, proxy=self._proxy, timeout_s=asked["timeout_s"])
        except Ended as error:
            raise Fault("gone", str(error)) from None
        self._context = await browser.new_context(
            viewport={"width": how["width"], "height": how["height"]},
            accept_downloads=False,
            service_workers="block",  # their requests would pass the guard below unseen
            permissions=[],
        )
        await self._watch.guard(self._context)
        self._page = await self._context.new_page()
        self._watch.listen(self._page)
        return {"version": browser.version}

    async def _open(self, asked: dict[str, Any]) -> dict[str, Any]:
        if self._page is None:
            raise Fault("gone", "the browser does not run")
        self._watch.leave_page()
        await self._go(self._page, asked["url"], asked["timeout_s"])
        whole = await self._watch.settle(_SETTLE_S)
        return {**await self._where(), "whole": whole}

    async def _go(self, page: Page, url: str, timeout_s: float) -> None:
        for _ in range(3):
            try:
                answer = await page.goto(url, wait_until="domcontentloaded", timeout=timeout_s * 1_000)
            except Error as error:
                if _INTERRUPTED not in (error.message or ""):
                    raise
                if not any(f'navigation to "{left}' in error.message for left in _NO_PAGE):
                    await page.wait_for_load_state("domcontentloaded")  # the page itself went on to another one
                    return
            else:
                self._watch.status = None if answer is None else answer.status
                return
        raise Fault("address", "the page before it would not go")

    async def _read(self, asked: dict[str, Any]) -> dict[str, Any]:
        part = await self._part(asked.get("within"))
        text = await part.aria_snapshot(timeout=asked["timeout_s"] * 1_000)
        most = asked["characters"]
        return {
            **await self._where(),
            "text": text[:most],
            "length": len(text),
            "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
        }

    async def _screenshot(self, asked: dict[str, Any]) -> dict[str, Any]:
        page = self._open_page()
        clip: FloatRect | None = None
        if asked.get("whole_page"):
            tall = await page.evaluate("document.documentElement.scrollHeight")
            clip = {"x": 0, "y": 0, "width": self._how["width"], "height": max(1, min(int(tall), _TALLEST))}
        picture = await page.screenshot(
            full_page=clip is not None, clip=clip, timeout=asked["timeout_s"] * 1_000, animations="disabled"
        )
        return {**await self._where(), "png": base64.b64encode(picture).decode()}

    async def _click(self, asked: dict[str, Any]) -> dict[str, Any]:
        target = await self._target(asked)
        patience = asked["timeout_s"] / 2 * 1_000
        try:
            await target.click(timeout=patience, trial=True)
        except TookTooLong:
            raise Fault("target", "it is covered, moves or cannot be used, so that it was not clicked") from None
        return await self._act(target.click(timeout=patience), asked)

    async def _type(self, asked: dict[str, Any]) -> dict[str, Any]:
        target = await self._target(asked)

        if not await target.is_editable(timeout=asked["timeout_s"] * 1_000):
            raise Fault("target", "nothing can be typed there, so that nothing was")

        async def fill() -> None:
            await target.fill(asked["text"], timeout=asked["timeout_s"] * 1_000)
            if asked.get("enter"):
                await target.press("Enter", timeout=asked["timeout_s"] * 1_000)

        return await self._act(fill(), asked)

    async def _act(self, action: Awaitable[None], asked: dict[str, Any]) -> dict[str, Any]:
        """Do something to the page; only meanwhile may it send more than a look."""
        self._watch.acting, self._watch.status = True, None
        try:
            await action
            whole = await self._watch.settle(_SETTLE_S)
            return {**await self._where(), "whole": whole}
        except TookTooLong:
            raise
        except Error as error:
            fault = self._fault_of(error)
            raise Fault("unsure" if fault.kind == "target" else fault.kind, str(fault)) from None
        finally:
            self._watch.acting = False

    async def _target(self, asked: dict[str, Any]) -> Locator:
        """Return the one thing that is meant; raise Fault when there is none, or more than one."""
        if (seen := asked.get("seen")) is not None:
            now = await self._open_page().locator("body").aria_snapshot(timeout=asked["timeout_s"] * 1_000)
            if hashlib.sha256(now.encode()).hexdigest() != seen:
                raise Fault("changed", "the page no longer reads as it did when it was seen")
        page = self._open_page()
        if asked.get("selector"):
            found, words = page.locator(asked["selector"]), f"the selector {asked['selector']}"
        else:
            found = page.get_by_role(asked["role"], name=asked["name"], exact=True)
            words = f"a {asked['role']} named {asked['name']!r}"
        with contextlib.suppress(TookTooLong):  # a page may still be drawing it
            await found.first.wait_for(state="visible", timeout=min(5.0, asked["timeout_s"] / 2) * 1_000)
        n = await found.count()
        if n != 1:
            raise Fault("target", f"the page has {n or 'nothing like'} {words}" + (" and one is due" if n else ""))
        return found

    async def _part(self, within: str | None) -> Locator:
        page = self._open_page()
        found = page.locator(within or "body")
        if within and await found.count() != 1:
            raise Fault("target", f"the page has {await found.count()} parts {within}, and one is due")
        return found

    def _open_page(self) -> Page:
        if self._page is None or self._page.url.startswith(_NO_PAGE):
            raise Fault("no_page", "no page is open")
        return self._page

    async def _where(self) -> dict[str, Any]:
        assert self._page is not None
        title = ""
        with contextlib.suppress(Error):  # the page is on its way to another one
            title = await self._page.title()
        return {"url": self._page.url, "title": title, "status": self._watch.status, **self.noted}

    async def _answers(self) -> bool:
        """Whether the page still runs anything it is asked to, once it has stopped loading."""
        if self._page is None or self._context is None:
            return False
        try:
            async with asyncio.timeout(2):
                await (await self._context.new_cdp_session(self._page)).send("Page.stopLoading")
                await self._page.evaluate("1")
        except (Error, TimeoutError):
            return False
        return True

    async def _unless_it_crashes(self, work: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        doing, crash = asyncio.ensure_future(work), asyncio.ensure_future(self._watch.crashed.wait())
        try:
            await asyncio.wait({doing, crash}, return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                raise Fault("crashed", "the page crashed")
            return doing.result()
        finally:
            for task in (doing, crash):
                task.cancel()
            await asyncio.gather(doing, crash, return_exceptions=True)

    def _fault_of(self, error: Error) -> Fault:
        words = (error.message or "").split("\n")[0].removeprefix("Page.goto: ").strip()
        if self._watch.crashed.is_set() or "crashed" in words:
            return Fault("crashed", "the page crashed")
        if "Target page, context or browser has been closed" in words or "Connection closed" in words:
            return Fault("gone", "the browser ended")
        if "download" in words.lower() or self.noted.get("downloads"):
            return Fault("download", "the address is a file to download, and not a page")
        if "net::" in words or "is interrupted" in words:
            return Fault("address", words)
        return Fault("target", words)


def say(answer: dict[str, Any]) -> None:
    """Write one line."""
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()


async def answer_to(host: Host, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one request; a fault is one too."""
    try:
        return {"id": asked["id"], "gave": await host.do(asked)}
    except Fault as fault:
        return {"id": asked["id"], "fault": fault.kind, "why": str(fault)[:1_000], **host.noted}


async def main() -> None:
    """Serve requests, one after another, until standard input ends."""
    lines = asyncio.StreamReader(limit=4 * 1_024 * 1_024)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    how = json.loads(await lines.readline())
    server = await asyncio.start_server(lambda r, w: relay(r, w, how["proxy"]), "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with async_playwright() as playwright:
        host = Host(playwright, how, address)
        while line := await lines.readline():
            say(await answer_to(host, json.loads(line)))
    os._exit(0)


def run() -> None:
    """Serve until standard input ends."""
    asyncio.run(main())
