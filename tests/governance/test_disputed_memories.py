"""What contradicts a key decision is put before people, and their answer settles it."""

from __future__ import annotations

from typing import Any

import pytest

from contracts import CardId, HolderKind, MemoryClass, MemoryHolder, MemoryState
from governance.access import People
from governance.approvals import ApprovalGateway, fold_card
from governance.approvals.rule import ApprovalRule
from governance.disputed_memories import NEWER, OLDER, DisputeCards, FollowsDisputes
from memory.memory_capabilities import MemoryWrite
from memory.recall.recall import MemoryRecall
from memory.records.book import MemoryBook
from memory.writing.writer import MemoryWriter
from runtime.capabilities.port import CallContext
from runtime.ledger.port import Append
from runtime.ledger.store import SqlStore
from runtime.settings import MemorySettings
from tests.fakes.clock import HandClock
from tests.fakes.memories import ORGANISATION, a_draft
from tests.fakes.orders import an_order
from tests.governance.cards import PEOPLE, SAM
from tests.stores import clock, mysql_database, postgresql_database, sqlite_store, store, store_url

__all__ = ["clock", "mysql_database", "postgresql_database", "sqlite_store", "store", "store_url"]
pytestmark = pytest.mark.anyio
SETTINGS = MemorySettings()
RULE = {"default": ApprovalRule("default", ("duty-managers",))}
HEAD = MemoryHolder(kind=HolderKind.BUSINESS, name=ORGANISATION)
ABOUT = {"subject": "freight", "relation": "is bought from", "holder": HEAD}


class Desk:
    """An organisation that has decided where it buys."""

    def __init__(self, store: SqlStore, clock: HandClock, rules: dict[str, ApprovalRule] | None = None) -> None:
        self.store, self.clock = store, clock
        self.book = MemoryBook(store, ORGANISATION, clock=clock, settings=SETTINGS)
        self.gateway = ApprovalGateway(store, clock, People(PEOPLE), ORGANISATION)
        disputes = DisputeCards(
            self.gateway, RULE if rules is None else rules, ORGANISATION, clock, lambda language: _say
        )
        writer, recall = MemoryWriter(self.book, clock, SETTINGS), MemoryRecall(self.book, SETTINGS)

        async def is_there(stream: str) -> bool:
            return bool(await store.ledger.read_newest(stream))

        self._write = MemoryWrite(
            lambda: writer, lambda: recall, lambda name: True, disputes=disputes, asked_already=is_there
        )
        self.order = an_order(organisation=ORGANISATION, employee="analyst")

    async def writes(self, text: str, value: str, key: str = "k") -> tuple[dict[str, Any], list[Append]]:
        context = CallContext(self.order, "do", key, 1, self.clock.now())
        told = {"text": text, "whose": "business", "subject": "freight", "relation": "is bought from", "value": value}
        done = await self._write.call(told, context)
        return dict(done.output), list(done.appends)

    async def card_of(self, appends: list[Append]) -> CardId:
        await self.store.ledger.append(*appends)
        return CardId(appends[1].stream)

    async def decides(self, card: CardId, option: str | None) -> None:
        approve = option is not None
        await self.gateway.decide(card, person=SAM, approve=approve, option=option, reason="" if approve else "no")


def _say(key: str, /, **facts: object) -> str:
    return f"{key} {facts.get('newer', '')} {facts.get('older', '')}"


@pytest.fixture
def desk(store: SqlStore, clock: HandClock) -> Desk:
    return Desk(store, clock)


async def test_a_contradiction_of_a_decision_is_asked_about_once(desk: Desk) -> None:
    oak = await desk.book.add(
        a_draft("We buy from Oak.", memory_class=MemoryClass.DECISION, value="Oak", **ABOUT), by="ann"
    )
    output, appends = await desk.writes("We buy from Elm.", "Elm")
    assert (output["became"], output["other"]) == ("disputed", oak.memory_id)
    card = fold_card(await _read(desk, await desk.card_of(appends))).card
    assert "We buy from Oak." in str(card.question) and "We buy from Elm." in str(card.question)
    assert [option.id for option in card.options] == [NEWER, OLDER] and card.who == ("duty-managers",)
    again, none = await desk.writes("We buy from Elm.", "Elm")
    assert again["became"] == "there" and none == []


async def _read(desk: Desk, card: CardId) -> Any:
    return await desk.store.ledger.read(card)


async def test_what_contradicts_a_fact_only_waits_without_a_card(desk: Desk) -> None:
    await desk.book.add(
        a_draft("We buy from Oak.", memory_class=MemoryClass.FACT, value="Oak", confidence=0.99, **ABOUT), by="ann"
    )
    _, appends = await desk.writes("We buy from Elm.", "Elm")
    assert appends == []


async def test_where_nobody_may_decide_it_only_waits(store: SqlStore, clock: HandClock) -> None:
    desk = Desk(store, clock, rules={})
    await desk.book.add(a_draft("We buy from Oak.", memory_class=MemoryClass.DECISION, value="Oak", **ABOUT), by="ann")
    output, appends = await desk.writes("We buy from Elm.", "Elm")
    assert output["became"] == "disputed" and appends == []


@pytest.mark.parametrize(
    ("option", "oak_is", "elm_is"),
    [
        (NEWER, MemoryState.SUPERSEDED, MemoryState.ACTIVE),
        (OLDER, MemoryState.ACTIVE, MemoryState.WITHDRAWN),
        (None, MemoryState.ACTIVE, MemoryState.WITHDRAWN),
    ],
)
async def test_what_is_decided_settles_it(
    desk: Desk, option: str | None, oak_is: MemoryState, elm_is: MemoryState
) -> None:
    oak = await desk.book.add(
        a_draft("We buy from Oak.", memory_class=MemoryClass.DECISION, value="Oak", **ABOUT), by="ann"
    )
    output, appends = await desk.writes("We buy from Elm.", "Elm")
    card = await desk.card_of(appends)
    follower = FollowsDisputes(desk.store, desk.clock, SETTINGS)
    await follower.catch_up()
    assert (await desk.book.get(output["id"])).state is MemoryState.DISPUTED
    await desk.decides(card, option)
    for _ in range(2):
        await follower.catch_up()
        await FollowsDisputes(desk.store, desk.clock, SETTINGS).catch_up()
    states = [(await desk.book.get(each)).state for each in (oak.memory_id, output["id"])]
    assert states == [oak_is, elm_is]


async def test_what_was_settled_by_hand_stays_so(desk: Desk) -> None:
    await desk.book.add(a_draft("We buy from Oak.", memory_class=MemoryClass.DECISION, value="Oak", **ABOUT), by="ann")
    output, appends = await desk.writes("We buy from Elm.", "Elm")
    card = await desk.card_of(appends)
    await desk.book.withdraw(output["id"], by="ann")
    await desk.decides(card, NEWER)
    await FollowsDisputes(desk.store, desk.clock, SETTINGS).catch_up()
    assert (await desk.book.get(output["id"])).state is MemoryState.WITHDRAWN
