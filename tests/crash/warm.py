"""A process with everything imported and nothing running, which forks one child for each life that a test asks for.

    python -m tests.crash.warm      reads one task a line, writes how that life ended, one a line

It never has a thread or a loop of its own, so that a child is as good as a new process, without its start.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import traceback
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from runtime.ledger.database import Database, address_of
from runtime.ledger.statements import statements_for
from runtime.settings import LedgerSettings
from tests.crash.person import Task, live


def main() -> None:
    """Serve until the standard input closes."""
    for line in sys.stdin:
        task = Task(**json.loads(line))
        _prepare(task)
        ended = _live_in_a_child(task)
        _import(ended.pop("modules", []))
        print(json.dumps(ended), flush=True)


def _prepare(task: Task) -> None:
    """Have everything at hand that a process compiles once and for all."""
    url = address_of(LedgerSettings(url=task.url), Path(task.home))
    statements_for(Database(url, LedgerSettings()).engine.dialect)


def _live_in_a_child(task: Task) -> dict[str, Any]:
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a thread does not survive a fork"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os._exit(_child(task, writing))
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        said = told.read()
    _, status = os.waitpid(child, 0)
    ended: dict[str, Any] = json.loads(said) if said else {}
    return {**ended, "killed": os.WIFSIGNALED(status)}


def _child(task: Task, writing: int) -> int:
    for number, path in ((0, os.devnull), (1, os.devnull)):
        os.dup2(os.open(path, os.O_RDWR), number)
    try:
        told = asdict(asyncio.run(live(task)))
        said, code = {"told": told, "modules": sorted(sys.modules)}, 0
    except BaseException:
        said, code = {"error": traceback.format_exc()}, 1
    data = json.dumps(said).encode()
    while data:
        data = data[os.write(writing, data) :]
    return code


def _import(modules: list[str]) -> None:
    """Import what the first child imported while it worked, so that the others find it there."""
    for name in modules:
        if name not in sys.modules and not name.startswith("__"):
            with suppress(Exception):
                importlib.import_module(name)


if __name__ == "__main__":
    main()
