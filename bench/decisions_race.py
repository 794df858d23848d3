"""The part `race` of decisions.py: a yes and a no at the same moment, on each store that answers."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from rig import folders

from contracts import Action, CardId, CardKind, DecisionCard, Effect, ExecutionId, Option, OrderId
from governance.access import People, Person, Role
from governance.approvals import ApprovalGateway
from governance.errors import CardClosed
from runtime.clock import SystemClock
from runtime.ledger import open_store
from runtime.settings import LedgerSettings
from tests.stores import empty_server_database

ORGANISATION = "bench"
ANN, BOB = (Person(name, name.title(), frozenset({Role.APPROVER}), frozenset({"deciders"})) for name in ("ann", "bob"))
STORES = ("sqlite", "mysql", "postgresql")


def add_arguments(made: argparse.ArgumentParser) -> None:
    """Let the numbers of this part be chosen."""
    made.add_argument("--pairs", type=int, default=1_000, help="pairs of `race`, on each store")
    made.add_argument("--stores", nargs="+", choices=STORES, default=list(STORES), help="stores of `race` and `cards`")


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return for each store how many pairs had one winner, and what a pair takes."""
    found: dict[str, Any] = {"pairs": arguments.pairs}
    for kind in arguments.stores:
        with store_address(kind, folders(arguments.folder)[0]) as (url, home):
            found[kind] = "no server answers" if url is None else await _of_store(url, home, arguments.pairs)
    return found


async def _of_store(url: str, home: Path, pairs: int) -> dict[str, Any]:
    store = await open_store(LedgerSettings(url=url), home=home, clock=SystemClock())
    here = ApprovalGateway(store, SystemClock(), People([ANN, BOB]), ORGANISATION)
    cards = [a_card(number) for number in range(pairs)]
    await store.ledger.append(*(here.card_append(each) for each in cards))
    taken, winners = list[float](), 0
    for each in cards:
        begun = time.perf_counter()
        said = await asyncio.gather(_said(here, each, ANN, "act"), _said(here, each, BOB, None))
        taken.append(time.perf_counter() - begun)
        view = await here.get(each.card_id)
        winners += sorted(said) == [f"told {view.decided_by}", "won"] and len(view.decisions) == 1
    await store.close()
    return {
        "one_winner": winners,
        "pair_ms": round(median(taken) * 1_000, 2),
        "slowest_ms": round(max(taken) * 1_000, 1),
    }


async def _said(gateway: ApprovalGateway, card: DecisionCard, person: Person, option: str | None) -> str:
    try:
        await gateway.decide(card.card_id, person=person, approve=option is not None, option=option, reason="bench")
    except CardClosed as closed:
        return f"told {closed.facts['by']}"
    return "won"


def a_card(number: int) -> DecisionCard:
    """Return a card of an execution of its own, due in a day and so many seconds."""
    acts = Action(by="clerk", use="desk.pay", arguments={"n": number}, effect=Effect.WRITE, capability_sha256="0" * 64)
    words = {"benefit": "b", "risk": "r", "cost": "c", "reversible": True}
    options = (Option(id="act", title="Act", actions=(acts,), **words), Option(id="nothing", title="Not", **words))
    now = datetime.now(UTC)
    return DecisionCard(
        card_id=CardId.new(), kind=CardKind.CHOICE, execution_id=ExecutionId.new(), order_id=OrderId.new(),
        step="choose", organisation=ORGANISATION, question="Act?", impact="One.", options=options, policy="default",
        who=("deciders",), requested_by="cyd", raised_at=now, deadline=now + timedelta(days=1, seconds=number),
    )  # fmt: skip


@contextmanager
def store_address(kind: str, folder: Path) -> Iterator[tuple[str | None, Path]]:
    """Give the address of an empty store of a kind, None where no server answers, and a home folder."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        if kind == "sqlite":
            yield f"sqlite:///{made}/silicon.db", Path(made)
            return
        databases = empty_server_database(kind)
        try:
            url = next(databases)
        except BaseException as skipped:  # what a test would be skipped for
            if type(skipped).__name__ != "Skipped":
                raise
            yield None, Path(made)
            return
        try:
            yield url, Path(made)
        finally:
            databases.close()
