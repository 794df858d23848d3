"""The office of a host whose process ends while it opens, as often as a test has said."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from console.hosting import SiliconOffice
from console.hosting import open_office as open_real_office

_DEATHS = "deaths"


def let_die(home: Path, times: int) -> None:
    """Have the processes of so many hosts end while they open."""
    for number in range(times):
        (home / f"{_DEATHS}.{number}").touch()


async def open_office(home: Path, given: Mapping[str, Any], node: Any) -> SiliconOffice:
    """Open the office, unless this process is one of those that end."""
    if _is_one_of_them(home):
        os._exit(1)
    return await open_real_office(home, given, node)


def _is_one_of_them(home: Path) -> bool:
    for death in home.glob(f"{_DEATHS}.*"):
        with suppress(FileNotFoundError):  # another process was quicker
            death.unlink()
            return True
    return False
