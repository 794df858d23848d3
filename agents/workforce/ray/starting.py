"""Starting hosts again where their processes end while they start: a few times, each after a longer wait."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from agents.workforce.errors import HostNotReady

T = TypeVar("T")
AGAIN_S, AGAIN_MOST_S = 1.0, 60.0
"""Wait before a host is started again where one did not start, doubled each time, up to the second."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HostsAwaited:
    """That no host started so far, and that it is tried again."""

    tried: int
    tries: int
    why: str


async def started(
    start: Callable[[], Awaitable[T]], tries: int, *, told: Callable[[HostsAwaited | None], None] = lambda awaited: None
) -> T:
    """Return what starts; where its process ends while it starts, it is tried again, `tries` times in all.

    Any other error ends it at once: what an office cannot open now, such as a ledger of another schema, the next one
    cannot either.

    Args:
        told: hears of each failure that is followed by another try, and with None that it is over.

    Raises:
        HostNotReady: none of them started.
    """
    try:
        for tried in range(1, tries + 1):
            try:
                return await start()
            except HostNotReady as error:
                if tried == tries:
                    raise _not_ready(error, tries) from error
                _log.warning("no host started, try %d of %d: %s", tried, tries, error)
                told(HostsAwaited(tried, tries, error.message))
            await asyncio.sleep(min(AGAIN_S * 2 ** (tried - 1), AGAIN_MOST_S))
    finally:
        told(None)
    raise AssertionError("the last try returns or raises")


def _not_ready(error: HostNotReady, tries: int) -> HostNotReady:
    return HostNotReady(
        f"{error.message.rstrip('.')}. So it was in each of {tries} tries (setting ray.start_tries). Look for what "
        "ends them: memory, the log of Ray. Then resume the execution.",
        **{**error.facts, "tries": tries},
    )  # fmt: skip
