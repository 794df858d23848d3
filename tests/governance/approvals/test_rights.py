"""Case A3: who asked, stands in, edited or was removed decides nothing; delegations have dates and one voice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from contracts import Action, DecisionCard, Delegation, Effect, Outcome
from governance.access import People, Person, Role
from governance.approvals import ApprovalGateway
from governance.approvals.bulk import require_same_kind
from governance.approvals.editing import edit
from governance.errors import NotAllowedToDecide
from governance.policies import Policy, PolicyBook
from runtime.errors import InvalidArguments, NotFound
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.cards import (
    ALEX,
    DANA,
    KIM,
    MORGAN,
    ORGANISATION,
    PEOPLE,
    ROBIN,
    SAM,
    WAIVE,
    action,
    card,
    option,
)

pytestmark = pytest.mark.anyio
UMA = Person("uma", "Uma Li", frozenset({Role.APPROVER}))
IVO = Person("ivo", "Ivo Ban", frozenset({Role.VIEWER}))
SPECS = {WAIVE.name: WAIVE}


@pytest.fixture
def gateway(sqlite_store: SqlStore, clock: HandClock) -> ApprovalGateway:
    return ApprovalGateway(sqlite_store, clock, People((*PEOPLE, UMA, IVO)), ORGANISATION)


async def raised(store: SqlStore, gateway: ApprovalGateway, *actions: Action, **fields: Any) -> DecisionCard:
    now = gateway.clock.now()
    new = card(*actions, raised_at=now, deadline=now + timedelta(days=30), **fields)
    await store.ledger.append(gateway.card_append(new))
    return new


async def delegated(gateway: ApprovalGateway, giver: Person, taker: Person, **more: Any) -> Delegation:
    now = gateway.clock.now()
    given = {"starts_at": now, "ends_at": now + timedelta(days=7), "by": giver, "via": "test", **more}
    return await gateway.delegations.make(gateway.people, giver=giver.id, taker=taker.id, **given)


async def refused(gateway: ApprovalGateway, shown: DecisionCard, person: Person) -> str:
    with pytest.raises(NotAllowedToDecide) as told:
        await gateway.decide(shown.card_id, person=person, approve=True, option="waive")
    return str(told.value.facts["why"])


async def test_a_delegation_lets_its_taker_decide_from_its_first_to_its_last_moment_and_no_longer(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = [await raised(sqlite_store, gateway) for _ in range(2)]
    starts = clock.now() + timedelta(days=1)
    await delegated(gateway, MORGAN, UMA, starts_at=starts, ends_at=starts + timedelta(days=2))
    assert await refused(gateway, shown[0], UMA) == "not_named"

    clock.advance(86_400)
    decided = await gateway.decide(shown[0].card_id, person=UMA, approve=True, option="waive")
    clock.advance(2 * 86_400)

    assert (decided.decisions[0].by, decided.decisions[0].on_behalf_of) == ("uma", "morgan")
    assert await refused(gateway, shown[1], UMA) == "not_named"


async def test_a_delegation_that_was_ended_gives_no_right_any_more(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = await raised(sqlite_store, gateway)
    made = await delegated(gateway, MORGAN, UMA)
    clock.advance(60)
    with pytest.raises(NotAllowedToDecide):
        await gateway.delegations.end(made.delegation_id, gateway.people, by=SAM, via="test")
    ended = await gateway.delegations.end(made.delegation_id, gateway.people, by=MORGAN, via="test")

    assert ended.ended_at == clock.now()
    assert await refused(gateway, shown, UMA) == "not_named"


async def test_only_cards_of_the_rules_that_were_named_are_delegated(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    await delegated(gateway, MORGAN, UMA, policies=["default"])
    assert await refused(gateway, await raised(sqlite_store, gateway), UMA) == "not_named"
    other = await raised(sqlite_store, gateway, policy="default")
    assert (await gateway.decide(other.card_id, person=UMA, approve=True, option="waive")).is_approved


async def test_a_delegation_gives_no_role_and_is_not_passed_on(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway)
    await delegated(gateway, MORGAN, IVO)
    assert await refused(gateway, shown, IVO) == "role"
    await delegated(gateway, DANA, UMA)
    await delegated(gateway, MORGAN, DANA)
    assert await refused(gateway, shown, UMA) == "not_named"


async def test_the_conflict_of_interest_goes_with_the_delegation(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway, requested_by="morgan")
    await delegated(gateway, MORGAN, SAM)
    assert await refused(gateway, shown, SAM) == "deputy"
    assert await refused(gateway, shown, MORGAN) == "requester"
    assert (await gateway.decide(shown.card_id, person=ALEX, approve=True, option="waive")).is_approved


async def test_who_delegated_and_who_decides_for_them_have_one_voice(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway, quorum=2)
    await delegated(gateway, MORGAN, UMA)
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    assert await refused(gateway, shown, UMA) == "one_voice"

    other = await raised(sqlite_store, gateway, quorum=2)
    await gateway.decide(other.card_id, person=UMA, approve=True, option="waive")
    assert await refused(gateway, other, MORGAN) == "one_voice"
    assert (await gateway.decide(other.card_id, person=SAM, approve=True, option="waive")).is_approved


async def test_only_the_giver_or_an_administrator_delegates(gateway: ApprovalGateway, clock: HandClock) -> None:
    with pytest.raises(NotAllowedToDecide):
        await delegated(gateway, MORGAN, UMA, by=UMA)
    assert (await delegated(gateway, MORGAN, UMA, by=DANA)).by == "dana"
    with pytest.raises(InvalidArguments):
        await delegated(gateway, MORGAN, MORGAN)
    with pytest.raises(InvalidArguments):
        await delegated(gateway, MORGAN, UMA, ends_at=clock.now() - timedelta(days=1))
    with pytest.raises(InvalidArguments, match="Nobody here is called zed"):
        await delegated(gateway, MORGAN, Person("zed", "Zed"))
    with pytest.raises(NotFound):
        await gateway.delegations.end(
            (await delegated(gateway, SAM, UMA)).delegation_id.new(), gateway.people, by=DANA, via="test"
        )  # fmt: skip


async def test_somebody_removed_from_the_group_after_the_card_was_sent_decides_nothing(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    shown = await raised(sqlite_store, gateway)
    await delegated(gateway, MORGAN, UMA)
    now = [replace(each, groups=frozenset()) if each is MORGAN else each for each in (*PEOPLE, UMA)]
    later = ApprovalGateway(sqlite_store, clock, People(now), ORGANISATION)
    assert await refused(later, shown, MORGAN) == "not_named"
    assert await refused(later, shown, UMA) == "not_named"


# editing
async def edited(gateway: ApprovalGateway, shown: DecisionCard, person: Person, *changes: Any, rules: Any = ()) -> Any:
    return await edit(
        gateway, shown.card_id, changes, option="waive", person=person, specs=SPECS, policies=PolicyBook(rules),
        via="test", reason="fewer",
    )  # fmt: skip


async def test_who_edited_cannot_decide_nor_who_stands_in_for_them(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway)
    await delegated(gateway, MORGAN, SAM)
    view = await edited(gateway, shown, MORGAN, {"flights": 400})

    assert await refused(gateway, shown, MORGAN) == "editor"
    assert await refused(gateway, shown, SAM) == "editor"
    decided = await gateway.decide(shown.card_id, person=ALEX, approve=True, option="waive")
    assert decided.chosen is not None and decided.chosen.actions[0].arguments["flights"] == 400
    assert decided.decisions[0].card_sha256 == view.card_sha256
    (made,) = decided.edits
    assert (made.before[0].arguments["flights"], made.after[0].arguments["flights"], made.by) == (472, 400, "morgan")


async def test_votes_before_an_edit_count_no_more_and_what_was_on_the_screen_is_not_decided(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway, quorum=2)
    before = await gateway.decide(shown.card_id, person=SAM, approve=True, option="waive")
    await edited(gateway, shown, MORGAN, {"flights": 400})
    with pytest.raises(InvalidArguments, match="not this card any more"):
        await gateway.decide(
            shown.card_id, person=ALEX, approve=True, option="waive", shown_sha256=before.card_sha256
        )  # fmt: skip

    assert (await gateway.decide(shown.card_id, person=ALEX, approve=True, option="waive")).is_open
    assert (await gateway.decide(shown.card_id, person=SAM, approve=True, option="waive")).outcome is Outcome.APPROVED


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"flights": "many"}, "do not fit"),
        ({"to": "me"}, "takes no to"),
        ({"flights": 9_000}, "The rule cheap forbids"),
        ({}, "has already"),
        (None, "has already"),
    ],
)
async def test_an_edit_leaves_neither_schema_nor_rules(
    sqlite_store: SqlStore, gateway: ApprovalGateway, change: Any, why: str
) -> None:
    shown = await raised(sqlite_store, gateway)
    cheap = Policy("cheap", "At most 2,000 flights.", "arguments.flights <= 2000")
    with pytest.raises(InvalidArguments, match=why):
        await edited(gateway, shown, MORGAN, change, rules=[cheap])
    assert (await gateway.get(shown.card_id)).edits == ()


async def test_an_edit_makes_nothing_looser_and_covers_no_other_tool(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway)
    view = await edited(gateway, shown, MORGAN, {"flights": 0})
    same = ("mode", "who", "quorum", "policy", "deadline", "escalate_to")
    assert [getattr(view.card, name) for name in same] == [getattr(shown, name) for name in same]
    before, after = shown.options[0].actions[0], view.card.options[0].actions[0]
    assert (after.by, after.use, after.effect) == (before.by, before.use, before.effect)

    other = await raised(sqlite_store, gateway, action(capability_sha256="0" * 64))
    with pytest.raises(InvalidArguments, match="declared anew"):
        await edited(gateway, other, MORGAN, {"flights": 1})


@pytest.mark.parametrize("person", [ROBIN, KIM, IVO])
async def test_who_may_not_decide_may_not_edit(
    sqlite_store: SqlStore, gateway: ApprovalGateway, person: Person
) -> None:  # fmt: skip
    shown = await raised(sqlite_store, gateway)
    with pytest.raises(NotAllowedToDecide):
        await edited(gateway, shown, person, {"flights": 1})


async def test_an_administrator_does_not_take_the_cards_of_somebody_who_did_not_give_them(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway)
    with pytest.raises(NotAllowedToDecide, match="cannot take"):
        await delegated(gateway, MORGAN, DANA, by=DANA)
    assert await refused(gateway, shown, DANA) == "not_named"
    await delegated(gateway, MORGAN, DANA)
    assert (await gateway.decide(shown.card_id, person=DANA, approve=True, option="waive")).is_approved


async def test_a_yes_to_an_edited_card_is_not_said_among_many(sqlite_store: SqlStore, gateway: ApprovalGateway) -> None:
    acts = action(effect=Effect.WRITE)
    shown = await raised(
        sqlite_store, gateway,
        options=(option("waive", acts).model_copy(update={"reversible": True}), option("nothing")),
    )  # fmt: skip
    require_same_kind([await gateway.get(shown.card_id)], "waive")
    await edit(
        gateway, shown.card_id, [{"flights": 9_000}], option="waive", person=SAM, specs=SPECS, policies=PolicyBook(()),
        via="test",
    )  # fmt: skip
    with pytest.raises(InvalidArguments, match="was edited"):
        require_same_kind([await gateway.get(shown.card_id)], "waive")
    require_same_kind([await gateway.get(shown.card_id)], None)
