"""An order whose effects can be taken back and that hangs until it is cancelled, for tests."""

from __future__ import annotations

import asyncio
from typing import Any

from contracts import Effect
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.fakes.engine_world import Tool, World


def desk(store: SqlStore, clock: HandClock, **undo: Any) -> tuple[World, list[str], asyncio.Event]:
    """A world in which effects and what takes them back are written down, and the third step hangs."""
    done: list[str] = []
    hanging = asyncio.Event()

    def act(arguments: Any, context: Any) -> dict[str, Any]:
        done.append(f"do {arguments['n']}")
        return {"id": arguments["n"]}

    def take_back(arguments: Any, context: Any) -> Any:
        done.append(f"undo {arguments['id']}")
        return undo.get("fails") or {}

    async def hang(arguments: object, context: object) -> None:
        hanging.set()
        await asyncio.Event().wait()

    tools = (Tool("do", act, Effect.WRITE), Tool("undo", take_back, Effect.WRITE), Tool("hang", hang))
    return World(store, clock, *tools, network_retries=0), done, hanging


def effect(n: int, after: int | None = None) -> dict[str, Any]:
    undo = {"use": "undo", "with": {"id": f"{{{{ e{n}.id }}}}"}}
    return {"id": f"e{n}", "use": "do", "with": {"n": n}, "after": [f"e{after}"] if after else [], "compensate": undo}


async def cancel_when(world: World, order: Any, hanging: asyncio.Event) -> Any:
    running = asyncio.ensure_future(world.run(order))
    await asyncio.wait_for(hanging.wait(), 60)
    world.cancelled = True
    return await asyncio.wait_for(running, 60)
