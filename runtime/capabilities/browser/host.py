"""Drives one Chromium from inside the slot. Started as a file, in a process of its own; imports nothing of ours.

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
import re
import sys
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import (
    BrowserContext,
    Dialog,
    Download,
    Error,
    FloatRect,
    Locator,
    Page,
    Playwright,
    Request,
    Response,
    Route,
    async_playwright,
)
from playwright.async_api import (
    TimeoutError as TookTooLong,
)

_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-breakpad",
    "--disable-crash-reporter", "--disable-component-update", "--disable-sync", "--dns-prefetch-disable",
    "--disable-domain-reliability", "--no-pings", "--disable-remote-fonts-fallback", "--mute-audio",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)  # fmt: skip
"""Nothing goes past the proxy: no QUIC, no UDP, no name is looked up here, and this machine is no exception."""
_LOOKING = ("GET", "HEAD", "OPTIONS")
_SETTLED_S = 0.5
"""A page is settled when it has requested nothing for this long."""
_SETTLE_S = 5.0
"""For how long that is waited for; a page that never rests is used as it is."""
_INTERRUPTED = "is interrupted by another navigation"
_NO_PAGE = ("about:blank", "chrome-error:")
"""The empty page, and the one that shows why an address did not open; it may be on its way when the next one opens."""
_EXIT = re.compile(r"<process did exit: exitCode=(\w+), signal=(\w+)>")
_LAST_WORDS = re.compile(r"\[err\] (.+)")
"""How playwright's record of a browser tells of its end, and of what it wrote before."""
_TALLEST = 8_000
"""Pixels of a picture of a whole page."""
_LISTED = 20
"""How many of anything that is only noted."""


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
        self._crashed = asyncio.Event()
        self._acting = False
        self._loading = 0
        self._activity = asyncio.Event()
        self._status: int | None = None
        self.noted: dict[str, list[Any]] = {}
        """What happened by the way since the last request came."""

    async def do(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Carry one request out; raise Fault when it cannot be."""
        doing: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]] = getattr(self, f"_{asked['do']}")
        self.noted = {}
        try:
            async with asyncio.timeout(asked["timeout_s"]):
                return await self._unless_it_crashes(doing(asked))
        except (TookTooLong, TimeoutError):
            kind = "timeout" if await self._answers() else "stuck"
            raise Fault(kind, f"it was not done within {asked['timeout_s']:g} s") from None
        except Error as error:
            with contextlib.suppress(TimeoutError):
                if "ERR_ABORTED" in (error.message or ""):  # a crash is told only afterwards
                    await asyncio.wait_for(self._crashed.wait(), 1)
            raise self._fault_of(error) from None

    async def _start(self, asked: dict[str, Any]) -> dict[str, Any]:
        how = self._how
        try:
            browser = await self._playwright.chromium.launch(
                executable_path=how["executable"],
                headless=True,
                chromium_sandbox=False,  # the slot is the sandbox, and lets nobody make another one inside it
                args=list(_FLAGS),
                proxy={"server": self._proxy, "username": how["user"], "password": how["password"]},
                timeout=asked["timeout_s"] * 1_000,
            )
        except Error as error:
            if (ended := how_it_ended(error.message or "")) is None:
                raise
            raise Fault("gone", f"the browser ended while it started ({ended})") from None
        self._context = await browser.new_context(
            viewport={"width": how["width"], "height": how["height"]},
            accept_downloads=False,
            service_workers="block",  # their requests would pass the guard below unseen
            permissions=[],
        )
        self._context.on("page", self._close_pop_up)
        await self._context.route("**/*", self._guard)
        self._page = await self._context.new_page()
        self._listen(self._page)
        return {"version": browser.version}

    async def _open(self, asked: dict[str, Any]) -> dict[str, Any]:
        if self._page is None:
            raise Fault("gone", "the browser does not run")
        self._status, self._loading = None, 0  # what the page before still asked for is not waited for
        await self._go(self._page, asked["url"], asked["timeout_s"])
        whole = await self._settle(_SETTLE_S)
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
                self._status = None if answer is None else answer.status
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
        self._acting, self._status = True, None
        try:
            await action
            whole = await self._settle(_SETTLE_S)
            return {**await self._where(), "whole": whole}
        except TookTooLong:
            raise
        except Error as error:
            fault = self._fault_of(error)
            raise Fault("unsure" if fault.kind == "target" else fault.kind, str(fault)) from None
        finally:
            self._acting = False

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
        return {"url": self._page.url, "title": title, "status": self._status, **self.noted}

    async def _settle(self, most_s: float) -> bool:
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
        doing, crash = asyncio.ensure_future(work), asyncio.ensure_future(self._crashed.wait())
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
        if self._crashed.is_set() or "crashed" in words:
            return Fault("crashed", "the page crashed")
        if "Target page, context or browser has been closed" in words or "Connection closed" in words:
            return Fault("gone", "the browser ended")
        if "download" in words.lower() or self.noted.get("downloads"):
            return Fault("download", "the address is a file to download, and not a page")
        if "net::" in words or "is interrupted" in words:
            return Fault("address", words)
        return Fault("target", words)

    def _listen(self, page: Page) -> None:
        page.on("crash", lambda _: self._crashed.set())
        page.on("dialog", self._answer_dialog)
        page.on("download", self._refuse_download)
        page.on("request", lambda _: self._count(1))
        page.on("requestfinished", lambda _: self._count(-1))
        page.on("requestfailed", self._note_failure)
        page.on("response", self._take_status)

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
            self._status = response.status

    async def _guard(self, route: Route) -> None:
        """Hold back what is more than a look while nobody acts on the page."""
        request = route.request
        with contextlib.suppress(Error):  # the page is gone already
            if self._acting or request.method in _LOOKING:
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


def how_it_ended(record: str) -> str | None:
    """Return the exit code or signal in playwright's record of a start, with the browser's last words; None without."""
    if (exit_ := _EXIT.search(record)) is None:
        return None
    code, number = exit_.groups()
    words = _LAST_WORDS.findall(record)
    return (number if number != "null" else f"exit code {code}") + (f": {words[-1].strip()[:200]}" if words else "")


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: str) -> None:
    """Carry one connection of the browser to the proxy and back."""
    try:
        inwards, outwards = await asyncio.open_unix_connection(proxy)
    except OSError:
        writer.close()
        return
    await asyncio.gather(pump(reader, outwards), pump(inwards, writer))


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry bytes one way until one side ends."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()


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


if __name__ == "__main__":
    asyncio.run(main())
