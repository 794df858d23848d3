"""`browser.open`, `.read`, `.screenshot`, `.click`, `.type`: one page for all steps of an order."""

from __future__ import annotations

import asyncio
import base64
import logging
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast
from weakref import WeakKeyDictionary

from contracts import EvidenceItem, EvidenceKind, Json
from runtime.canonical import clean, sha256
from runtime.capabilities.browser.errors import BrowserUnavailable
from runtime.capabilities.browser.session import BrowserSession, Installed, installed
from runtime.capabilities.browser.sites import Sites
from runtime.capabilities.browser.specs import CLICK, OPEN, READ, SCREENSHOT, SPARE_S, TYPE
from runtime.capabilities.port import CallContext, CallResult, Capability, CapabilitySpec, NewFile, Sandbox
from runtime.capabilities.python_code import sandbox_of
from runtime.errors import CapabilityFailed, InvalidArguments
from runtime.settings.groups import BrowserSettings

_log = logging.getLogger(__name__)
_LARGEST_TEXT = 200_000
_ACTING = ("text", "enter", "seen")
_NOTICED = ("dialogs", "pop_ups", "downloads", "held_back", "refused")
_PNG = b"\x89PNG\r\n\x1a\n"
_FILE_NAME = re.compile(r"[\w-][\w .-]{0,99}")


class Browsers:
    """The browsers of one organisation, one for each slot that uses one; started at first use."""

    def __init__(
        self, sites: Sites, settings: BrowserSettings, *, told: Callable[[str | None], None] = lambda _: None
    ) -> None:
        """Take what connections declare; `told` hears of each start: why it failed, None when it worked."""
        self.sites = sites
        self.settings = settings
        self._told = told
        self._sessions: WeakKeyDictionary[Sandbox, BrowserSession] = WeakKeyDictionary()
        self._starting: WeakKeyDictionary[Sandbox, asyncio.Lock] = WeakKeyDictionary()

    async def of(self, sandbox: Sandbox) -> BrowserSession:
        """Return the browser of a slot; a lost one is replaced. Raise BrowserUnavailable when it does not start."""
        async with self._starting.setdefault(sandbox, asyncio.Lock()):
            session = self._sessions.get(sandbox)
            if session is None or session.lost:
                if session is not None:
                    await session.end()  # it may be on its way out, and the slot's user has only so many processes
                found = await asyncio.to_thread(installed, self.settings)
                if not isinstance(found, Installed):
                    raise BrowserUnavailable(f"This machine has no browser for slots: {found}.")
                session = self._sessions[sandbox] = await self._started(sandbox, found)
            return session

    async def _started(self, sandbox: Sandbox, found: Installed) -> BrowserSession:
        try:
            session = await self._started_or_again(sandbox, found)
        except BrowserUnavailable as error:
            if not error.facts.get("took_too_long"):  # which a machine that is busy now explains
                await asyncio.to_thread(self._told, error.message)
            raise
        await asyncio.to_thread(self._told, None)
        return session

    async def _started_or_again(self, sandbox: Sandbox, found: Installed) -> BrowserSession:
        """Start it, once more where it ended meanwhile: a machine out of memory kills one program by chance."""
        try:
            return await BrowserSession.start(sandbox, self.sites, self.settings, found)
        except BrowserUnavailable as error:
            if not error.facts.get("ended"):
                raise
            _log.warning("a browser ended while it started and is started again", extra={"why": error.message})
        return await BrowserSession.start(sandbox, self.sites, self.settings, found)

    async def close(self) -> None:
        """End those that still run; slots do that themselves when they are given back."""
        for session in list(self._sessions.values()):
            await session.end()


class _OnPage:
    """What every capability of the browser does."""

    def __init__(self, spec: CapabilitySpec, browsers: Browsers) -> None:
        self.spec = replace(spec, timeout_s=browsers.settings.timeout_s + SPARE_S)
        self._browsers = browsers

    async def _page(self, arguments: Mapping[str, Json], context: CallContext) -> BrowserSession:
        """Return the browser of the order, with the page that the step names open in it."""
        url = arguments.get("url")
        if isinstance(url, str):
            self._browsers.sites.require(url)
        session = await self._browsers.of(sandbox_of(context, self.spec.name))
        if isinstance(url, str) and not session.shows(url):
            await session.open(url)
        return session

    def _where(self, told: Mapping[str, Any]) -> dict[str, Json]:
        """Return where the page is now; what was noticed by the way stands apart."""
        noticed = {name: told[name] for name in _NOTICED if told.get(name)}
        return cast(
            dict[str, Json],
            clean({**{name: told.get(name) for name in ("url", "title", "status", "whole")}, "noticed": noticed}),
        )

    def _seen(self, context: CallContext, output: Mapping[str, Json], **facts: Json) -> EvidenceItem:
        shown = {name: output[name] for name in ("url", "title", "status", "noticed") if output.get(name)}
        return EvidenceItem(
            kind=EvidenceKind.CALL, at=context.now, step=context.step, capability=self.spec.name,
            sha256=sha256(output), facts={**shown, **facts},
        )  # fmt: skip

    def _picture(
        self, png: str, context: CallContext, where: Mapping[str, Json], name: str
    ) -> tuple[EvidenceItem, NewFile, dict[str, Json]]:
        """Return a screenshot as evidence and as a file, and what it is.

        What the slot sends is taken for a picture only when it is one.
        """
        data = base64.b64decode(png)
        if data[:8] != _PNG or data[12:16] != b"IHDR":
            raise CapabilityFailed(f"{self.spec.name}: the browser sent no picture.", use=self.spec.name)
        width, height = struct.unpack(">II", data[16:24])
        what: dict[str, Json] = {
            "name": name, "sha256": sha256(data), "width": width, "height": height, "size": len(data),
        }  # fmt: skip
        item = EvidenceItem(
            kind=EvidenceKind.SCREENSHOT, at=context.now, step=context.step, capability=self.spec.name,
            sha256=sha256(data),
            facts={**what, "media_type": "image/png", "url": where["url"], "title": where["title"]},
        )  # fmt: skip
        return item, NewFile(name, "image/png", data), what


class Open(_OnPage):
    """`browser.open`."""

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Open the page, loaded as far as it gets in time; raise when there is none or it says that it failed."""
        url = str(arguments["url"])
        self._browsers.sites.require(url)
        session = await self._browsers.of(sandbox_of(context, self.spec.name))
        output = self._where(await session.open(url))
        return CallResult(output, evidence=(self._seen(context, output, asked=url),))


class Read(_OnPage):
    """`browser.read`."""

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the text of the page, or of a part, with its hash; longer than asked for, its beginning."""
        most = int(cast(int, arguments["characters"]))
        if not 0 < most <= _LARGEST_TEXT:
            raise InvalidArguments(f"`characters` is 1 to {_LARGEST_TEXT:,}, not {most:,}.", happened="no")
        session = await self._page(arguments, context)
        told = await session.ask("read", within=arguments.get("within"), characters=most)
        text = {name: told[name] for name in ("text", "length", "text_sha256")}
        output = {**self._where(told), **text}
        return CallResult(output, evidence=(self._seen(context, output, text_sha256=told["text_sha256"]),))


class Screenshot(_OnPage):
    """`browser.screenshot`."""

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Return the hash and size of the picture; the picture itself is evidence and an artifact."""
        name = str(arguments.get("name") or f"{context.step}.png")
        if not _FILE_NAME.fullmatch(name):
            raise InvalidArguments(f"{name[:100]!r} is not the name of a file.", happened="no")
        session = await self._page(arguments, context)
        told = await session.ask("screenshot", whole_page=arguments.get("whole_page"))
        where = self._where(told)
        item, file, what = self._picture(told["png"], context, where, name)
        return CallResult({**where, **what}, evidence=(item,), files=(file,))


class Act(_OnPage):
    """`browser.click` and `browser.type`: what may change something. A picture of what came of it is evidence."""

    async def call(self, arguments: Mapping[str, Json], context: CallContext) -> CallResult:
        """Act on the one thing that is named; raise with `happened: no` as long as nothing was done to the page."""
        named: dict[str, Any] = {name: arguments.get(name) for name in ("role", "name", "selector")}
        if named["selector"] is None and (named["role"] is None or named["name"] is None):
            raise InvalidArguments(
                f"{self.spec.name} needs `role` and `name` as browser.read shows them, or a `selector`.", happened="no"
            )
        session = await self._before(arguments, context)
        more: dict[str, Any] = {
            name: arguments[name] for name in ("text", "enter", "seen") if arguments.get(name) is not None
        }
        told = await session.ask(self.spec.name.partition(".")[2], acting=True, **named, **more)
        output = self._where(told)
        shown = [self._seen(context, output, **{name: value for name, value in named.items() if value is not None})]
        files: list[NewFile] = []
        try:
            picture = await session.ask("screenshot")
            item, file, _ = self._picture(picture["png"], context, self._where(picture), f"after-{context.step}.png")
            shown.append(item)
            files.append(file)
        except CapabilityFailed:  # it happened, picture or not
            pass
        return CallResult(output, evidence=tuple(shown), files=tuple(files))

    async def _before(self, arguments: Mapping[str, Json], context: CallContext) -> BrowserSession:
        try:
            return await self._page(arguments, context)
        except CapabilityFailed as error:
            error.facts["happened"] = "no"  # opening only looks
            raise


def browser_capabilities(browsers: Browsers) -> list[Capability]:
    """Return the capabilities of one organisation's browsers."""
    return [
        Open(OPEN, browsers), Read(READ, browsers), Screenshot(SCREENSHOT, browsers),
        Act(CLICK, browsers), Act(TYPE, browsers),
    ]  # fmt: skip
