"""A driver of Ray that closes the month, as `silicon run` does; a program of its own, to be killed.

python -m tests.engines.driver HOME FOLDER DESK KEY
"""

from __future__ import annotations

import asyncio
import sys

from runtime.settings.load import load
from tests.crash.dying_store import Death
from tests.crash.person import Person, Task
from tests.engines.holding_office import HoldingResources
from tests.engines.house import SETTINGS


async def main(home: str, folder: str, desk: str, key: str) -> None:
    """Work until the month is closed."""
    resources = HoldingResources(load({"home": home, **SETTINGS}))
    try:
        await Person(resources, Task(home, "", folder, int(desk), key), Death()).see_it_through()
    finally:
        await resources.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
