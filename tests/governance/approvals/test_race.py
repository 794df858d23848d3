"""Case A5: of two people who decide one card at once exactly one does, a thousand times; and a quorum of 2 of 3."""

from __future__ import annotations

import asyncio

import pytest

from contracts import CardId, Outcome
from governance.access import People, Person
from governance.approvals import ApprovalGateway
from governance.errors import CardClosed
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.cards import ALEX, MORGAN, ORGANISATION, PEOPLE, SAM, card

pytestmark = pytest.mark.anyio
TIMES = {"sqlite": 1_000, "mysql": 100, "postgresql": 100}
"""The benchmark does it a thousand times on each."""


async def decide(gateway: ApprovalGateway, card_id: CardId, person: Person, option: str | None) -> str:
    try:
        await gateway.decide(card_id, person=person, approve=option is not None, option=option, reason="because")
    except CardClosed as closed:
        return f"told {closed.facts['by']}"
    return "won"


@pytest.mark.timeout(120)
async def test_of_a_yes_and_a_no_at_once_one_wins_and_the_other_is_told_who(
    store: SqlStore, clock: HandClock, request: pytest.FixtureRequest
) -> None:
    gateway = ApprovalGateway(store, clock, People(PEOPLE), ORGANISATION)
    times = next(number for kind, number in TIMES.items() if kind in request.node.name)
    made = [card() for _ in range(times)]
    await store.ledger.append(*(gateway.card_append(each) for each in made))
    for shown in made:
        answers = await asyncio.gather(
            decide(gateway, shown.card_id, MORGAN, "waive"), decide(gateway, shown.card_id, SAM, None)
        )
        events = await store.ledger.read(shown.card_id)
        assert [event.type for event in events] == ["card.raised", "card.decided"]
        by = events[1].data["decision"]["by"]  # type: ignore[index,call-overload]
        assert sorted(answers) == [f"told {by}", "won"]


async def test_two_of_three_with_a_double_vote_approve_with_two_different_voices(
    store: SqlStore, clock: HandClock
) -> None:
    gateway = ApprovalGateway(store, clock, People(PEOPLE), ORGANISATION)
    for _ in range(30):
        shown = card(quorum=2)
        await store.ledger.append(gateway.card_append(shown))
        twice = (MORGAN, MORGAN, MORGAN)
        answers = await asyncio.gather(*(decide(gateway, shown.card_id, each, "waive") for each in twice))
        assert sorted(answers) == ["told morgan", "told morgan", "won"]
        assert (await gateway.get(shown.card_id)).is_open

        answers = await asyncio.gather(*(decide(gateway, shown.card_id, each, "waive") for each in (SAM, ALEX, SAM)))
        view = await gateway.get(shown.card_id)
        assert answers.count("won") == 1 and view.outcome is Outcome.APPROVED
        assert len(view.decisions) == 2 == len({each.by for each in view.decisions})
