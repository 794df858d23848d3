"""The browser of one slot: the program that drives it, the proxy before it, and one question at a time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.capabilities.browser import driven
from runtime.capabilities.browser.errors import BrowserUnavailable, NoPageOpen, PageChanged, PageLost
from runtime.capabilities.browser.sites import Sites
from runtime.capabilities.http_answer import fault_of
from runtime.capabilities.port import Grants, Resident, Sandbox
from runtime.errors import (
    BusinessRefusal,
    CapabilityFailed,
    CapabilityTimeout,
    InvalidArguments,
    NetworkFault,
    PermissionRefused,
    SiliconError,
)
from runtime.settings.groups import BrowserSettings

if TYPE_CHECKING:
    from runtime.capabilities.browser.proxy import FilteringProxy

_DRIVEN = Path(driven.__file__).parent
_START = "import sys; sys.path.insert(0, sys.argv[1]); from driven import host; del sys.path[0]; host.run()"
"""The folder is all of ours that the slot sees."""
_PLACES = dict.fromkeys(("TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), "/tmp")  # noqa: S108  the program's own
"""Its profile lies in memory and is gone with it; in the slot's folder it would count among the order's files."""
_TO_ANSWER_S = 5.0
"""The program in the slot ends a question first, because it can tell why."""
_UNTOUCHED = frozenset({"target", "changed", "no_page"})
"""Faults that are found before anything is done to the page."""
_LOST = frozenset({"crashed", "gone", "stuck"})
"""Faults after which the browser is of no more use."""


@dataclass(frozen=True, slots=True)
class Installed:
    """Where the browser of this machine is."""

    executable: Path
    """The program itself: what the distribution starts it with is a shell script, which the slot need not read."""
    interpreter: Path
    """The Python that has playwright."""


class BrowserSession:
    """One browser with one page; it is started with the first question and ends with the slot."""

    def __init__(self, program: Resident, proxy: FilteringProxy, settings: BrowserSettings) -> None:
        self._program = program
        self._proxy = proxy
        self._settings = settings
        self._asked = 0
        self._turn = asyncio.Lock()
        self._closing = asyncio.create_task(self._close_at_the_end())
        self._opened: tuple[str, str] | None = None
        self._now = ""
        self.version = ""
        """Of the browser, as it tells."""
        self.lost = False
        """Whether it can be asked nothing more."""

    @classmethod
    async def start(
        cls, sandbox: Sandbox, sites: Sites, settings: BrowserSettings, installed: Installed
    ) -> BrowserSession:
        """Return a browser that runs in the slot with no page open.

        Raises:
            BrowserUnavailable: it does not start here.
        """
        from runtime.capabilities.browser.proxy import FilteringProxy  # it is made of httpx

        proxy = FilteringProxy(sites, transfer_mib=settings.transfer_mib)
        await proxy.listen(sandbox.folder)
        grants = Grants(
            read=(installed.executable.parent, _DRIVEN),
            memory_mib=settings.memory_mib,
            reserves_memory=True,
            processes=settings.processes,
            open_files=settings.open_files,
            cpu_s=settings.cpu_s,
        )
        try:
            program = await sandbox.start(
                [str(installed.interpreter), "-I", "-B", "-c", _START, str(_DRIVEN.parent)],
                environment=_PLACES,
                grants=grants,
            )
        except BaseException:
            await proxy.close()
            raise
        session = cls(program, proxy, settings)
        how = {
            "executable": str(installed.executable), "width": settings.width, "height": settings.height,
            "proxy": proxy.socket, "user": proxy.user, "password": proxy.password,
        }  # fmt: skip
        try:
            await session._write(how)
            session.version = str((await session.ask("start", timeout_s=settings.start_s)).get("version", ""))
        except (CapabilityFailed, ConnectionError) as error:
            raise await session._not_started(error) from error
        except BaseException:
            await session.end()
            raise
        return session

    async def open(self, url: str) -> dict[str, Any]:
        """Open a page and return what the browser tells of it.

        Raises:
            CapabilityFailed: there is none, or the answer says that it failed; the subclass says who can help.
        """
        self._opened = None
        told = await self.ask("open", url=url)
        status = told.get("status")
        if isinstance(status, int) and status >= 400:
            raise self._refusal(url, told) or fault_of(url, status, None, str(told.get("title", "")).encode())
        self._opened = (url, self._now)
        return told

    def shows(self, url: str) -> bool:
        """Whether the page that was opened under that address is still the one that is open."""
        return self._opened is not None and self._opened == (url, self._now)

    async def ask(
        self, do: str, *, timeout_s: float | None = None, acting: bool = False, **asked: Any
    ) -> dict[str, Any]:
        """Have the browser do one thing and return what it tells.

        Args:
            do: `open`, `read`, `screenshot`, `click` or `type`; see `driven/host.py`.
            timeout_s: absent means the setting `browser.timeout_s`.
            acting: whether the page may send more than a look meanwhile.
            asked: what belongs to it.

        Raises:
            CapabilityFailed: with the subclass that says who can help. Cancelled or out of time, the browser is lost.
        """
        limit_s = timeout_s or self._settings.timeout_s
        async with self._turn:
            self._proxy.begin(acting=acting)
            self._asked += 1
            question = {"id": self._asked, "do": do, "timeout_s": limit_s, **asked}
            try:
                async with asyncio.timeout(limit_s + _TO_ANSWER_S):
                    answer = await self._answer(question)
            except TimeoutError:
                await self.end()
                raise CapabilityTimeout(
                    f"The browser did not answer within {limit_s:g} s and was stopped; the next call starts a new one."
                ) from None
            except BaseException:  # cancelled in the middle: nobody knows what the next line would answer
                await asyncio.shield(self.end())
                raise
            finally:
                self._proxy.acting = False
            if isinstance(told := answer.get("gave"), dict):
                told["refused"] = sorted({str(error.facts["host"]) for error in self._refusals(told)})
                self._now = str(told.get("url", ""))
                return told
            if answer.get("fault") in _LOST:
                await self.end()
            raise self._error_of(answer, str(asked.get("url") or "the page"), acting=acting)

    async def end(self) -> None:
        """End the browser with everything it started; once is enough."""
        self.lost = True
        await self._program.stop()
        await self._closing

    async def _close_at_the_end(self) -> None:
        await self._program.wait()
        self.lost = True
        await self._proxy.close()

    async def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        try:
            await self._write(question)
            while True:
                answer = json.loads(await self._line())
                if isinstance(answer, dict) and answer.get("id") == question["id"]:
                    return answer
        except (ConnectionError, ValueError) as error:  # it ended, or says what the driver never says
            self.lost = True
            return {"fault": "gone", "why": f"the browser ended ({error})"}

    async def _write(self, line: dict[str, Any]) -> None:
        self._program.stdin.write(json.dumps(line).encode() + b"\n")
        await self._program.stdin.drain()

    async def _line(self) -> bytes:
        """Return the next line; raise ConnectionError at the end, ValueError for one that is too long."""
        line, most = bytearray(), self._settings.answer_mib * 1_024 * 1_024
        while not line.endswith(b"\n"):
            try:
                line += await self._program.stdout.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                line += await self._program.stdout.readexactly(error.consumed)
            except asyncio.IncompleteReadError:
                raise ConnectionError("its output ended") from None
            if len(line) > most:
                raise ValueError(f"an answer of more than {self._settings.answer_mib} MiB")
        return bytes(line)

    async def _not_started(self, error: CapabilityFailed | ConnectionError) -> BrowserUnavailable:
        ended = await self._program.stop()
        await self._closing
        said = ended.stderr.strip().splitlines()
        told = error.facts.get("why") if isinstance(error, PageLost) else None
        why = (said[-1] if said else str(told or error)).rstrip(".")[:300]
        return BrowserUnavailable(
            f"The browser does not start in this slot: {why}. `silicon doctor` says what is missing.",
            said=ended.stderr[-4_000:], killed_for=ended.killed_for, took_too_long=isinstance(error, CapabilityTimeout),
            ended=isinstance(error, PageLost),
        )  # fmt: skip

    def _error_of(self, answer: dict[str, Any], page: str, *, acting: bool) -> CapabilityFailed:
        error = self._named(answer, page)
        if not acting or answer.get("fault") in _UNTOUCHED:
            error.facts["happened"] = "no"
        return error

    def _named(self, answer: dict[str, Any], page: str) -> CapabilityFailed:
        kind, why = answer.get("fault"), str(answer.get("why", ""))
        if self._proxy.overrun:
            return BusinessRefusal(
                f"{page} brings more than {self._settings.transfer_mib} MiB and was stopped. Open a smaller one, or "
                "raise the setting browser.transfer_mib.", limit_mib=self._settings.transfer_mib,
            )  # fmt: skip
        match kind:
            case "no_page":
                return NoPageOpen(
                    "No page is open in this slot. Open one with browser.open, or name it with `url`: then the step "
                    "can also be done in another slot, where nothing is open yet."
                )  # fmt: skip
            case "changed":
                return PageChanged("The page no longer reads as it did when it was seen, so nothing was done to it.")
            case "target":
                return InvalidArguments(f"Nothing was done: {why}. See what there is with browser.read.")
            case "unsure":
                return CapabilityFailed(f"Nobody knows whether it was done: {why}. See what the page shows now.")
            case "download":
                return BusinessRefusal(f"{page} is a file to download and no page; nothing was kept of it.")
            case "timeout" | "stuck":
                return CapabilityTimeout(f"{page}: {why}." + (" It hung and was closed." if kind == "stuck" else ""))
            case "crashed" | "gone":
                return PageLost(
                    f"{page}: {why}. The next call starts a new browser, in which it has to be opened again.", why=why
                )
        return self._refusal(page, answer) or NetworkFault(f"{page} did not open: {why}.")

    def _refusal(self, page: str, told: dict[str, Any]) -> PermissionRefused | None:
        refused = next((error for error in self._refusals(told) if isinstance(error, PermissionRefused)), None)
        return refused and PermissionRefused(f"{page} did not open. {refused.message}", **refused.facts)

    def _refusals(self, told: dict[str, Any]) -> list[SiliconError]:
        """Return what the proxy refused to the page: the browser also asks for things of its own."""
        wanted = told.get("failed") or ()
        return [error for error in self._proxy.refusals if error.facts.get("host") in wanted]


def installed(settings: BrowserSettings) -> Installed | str:
    """Return where the browser is, or what is missing and how to get it."""
    import shutil
    from importlib.util import find_spec

    if find_spec("playwright") is None:
        return "the Python library playwright is missing: pip install 'silicon-org[browser]'"
    named = [settings.executable] if settings.executable else ["chromium", "chromium-browser", "google-chrome"]
    found = next((path for name in named if (path := shutil.which(name))), None)
    if found is None:
        return f"{' or '.join(named)} is not installed: apt-get install chromium, or set SILICON_BROWSER__EXECUTABLE"
    return Installed(_program_behind(Path(found)), Path(sys.executable))


def _program_behind(launcher: Path) -> Path:
    """Return the program that a distribution's launcher script starts."""
    real = launcher.resolve()
    with contextlib.suppress(OSError):
        with real.open("rb") as file:
            if file.read(2) != b"#!":
                return real
        for folder in (Path("/usr/lib"), Path("/usr/lib64")):
            if (program := folder / launcher.name / launcher.name).is_file():
                return program
    return real
