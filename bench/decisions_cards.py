"""The part `cards` of decisions.py: what listing, deciding and sweeping cost with 10,000 open cards, beside 10."""

from __future__ import annotations

import argparse
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any

from decisions_race import ANN, ORGANISATION, a_card, store_address
from rig import folders

from governance.access import People
from governance.approvals import ApprovalGateway
from governance.approvals.index import CardIndex
from governance.asked import PeopleAsked
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.ledger.store import SqlStore
from runtime.settings import LedgerSettings

FEW, TIMES = 10, 30
_AT_ONCE = 500


def add_arguments(made: argparse.ArgumentParser) -> None:
    """Let the numbers of this part be chosen."""
    made.add_argument("--cards", type=int, default=10_000, help="open cards of `cards`")


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return for each store what each operation takes with few and with many open cards, and how they compare."""
    found: dict[str, Any] = {"cards": arguments.cards, "beside": FEW}
    for kind in arguments.stores:
        with store_address(kind, folders(arguments.folder)[0]) as (url, home):
            found[kind] = "no server answers" if url is None else await _of_store(url, home, arguments.cards)
    return found


async def _of_store(url: str, home: Path, many: int) -> dict[str, Any]:
    store = await open_store(LedgerSettings(url=url), home=home, clock=SystemClock())
    office = Office(store)
    few = await office.with_open(FEW)
    most = await office.with_open(many)
    await store.close()
    times = {f"{name[:-3]}_times": round(most[name] / few[name], 2) for name in few if few[name]}
    return {"few": few, "many": most, **times}


class Office:
    """Cards of one store, and what people do with them."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._gateway = ApprovalGateway(store, SystemClock(), People([ANN]), ORGANISATION)
        self._index = CardIndex(store)
        self._sweep = PeopleAsked(store, SystemClock(), self._index)
        self._made = 0

    async def with_open(self, number: int) -> dict[str, float]:
        """Return what each operation takes, ms, while so many cards are open."""
        while self._made < number:
            some = [a_card(self._made + each) for each in range(min(_AT_ONCE, number - self._made))]
            await self._store.ledger.append(*(self._gateway.card_append(each) for each in some))
            self._made += len(some)
        await self._index.catch_up()
        return {
            "list_ms": await _took(self._list),
            "decide_ms": round(median([await self._decide() for _ in range(TIMES)]), 2),
            "sweep_ms": await _took(self._sweep.judge_deadlines),
        }  # fmt: skip

    async def _list(self) -> None:
        for card_id in await self._index.waiting(organisation=ORGANISATION, limit=FEW):
            await self._gateway.get(card_id)

    async def _decide(self) -> float:
        new = a_card(0)
        await self._store.ledger.append(self._gateway.card_append(new))
        begun = time.perf_counter()
        await self._gateway.decide(new.card_id, person=ANN, approve=True, option="act")
        await self._index.catch_up()
        return (time.perf_counter() - begun) * 1_000


async def _took(work: Callable[[], Awaitable[None]]) -> float:
    """Return the median of what it takes, ms."""
    taken = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - begun)
    return round(median(taken) * 1_000, 2)
