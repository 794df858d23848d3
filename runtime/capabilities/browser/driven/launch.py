"""Starts the browser, and tells how one that did not start has ended."""

from __future__ import annotations

import re
from typing import Any

from playwright.async_api import Browser, Error, Playwright

_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-breakpad",
    "--disable-crash-reporter", "--disable-component-update", "--disable-sync", "--dns-prefetch-disable",
    "--disable-domain-reliability", "--no-pings", "--disable-remote-fonts-fallback", "--mute-audio",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)  # fmt: skip
"""Nothing goes past the proxy: no QUIC, no UDP, no name is looked up here, and this machine is no exception."""
_EXIT = re.compile(r"<process did exit: exitCode=(\w+), signal=(\w+)>")
_LAST_WORDS = re.compile(r"\[err\] (.+)")
"""How playwright's record of a browser tells of its end, and of what it wrote before."""


class Ended(Exception):
    """The browser ended while it started; the message tells how."""


async def launch(playwright: Playwright, how: dict[str, Any], *, proxy: str, timeout_s: float) -> Browser:
    """Return a browser that runs.

    Raises:
        Ended: it ended meanwhile.
        Error: it did not start for another reason.
    """
    try:
        return await playwright.chromium.launch(
            executable_path=how["executable"],
            headless=True,
            chromium_sandbox=False,  # the slot is the sandbox, and lets nobody make another one inside it
            args=list(_FLAGS),
            proxy={"server": proxy, "username": how["user"], "password": how["password"]},
            timeout=timeout_s * 1_000,
        )
    except Error as error:
        if (ended := how_it_ended(error.message or "")) is None:
            raise
        raise Ended(f"the browser ended while it started ({ended})") from None


def how_it_ended(record: str) -> str | None:
    """Return the exit code or signal in playwright's record of a start, with the browser's last words; None without."""
    if (exit_ := _EXIT.search(record)) is None:
        return None
    code, number = exit_.groups()
    words = _LAST_WORDS.findall(record)
    return (number if number != "null" else f"exit code {code}") + (f": {words[-1].strip()[:200]}" if words else "")
