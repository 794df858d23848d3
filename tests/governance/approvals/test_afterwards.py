"""What became of an approved card is followed, taken back and reviewed; and what was right often enough is proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from console.texts import say_in
from contracts import ApprovalMode, CardKind, DecisionCard, Effect, ExecutionId, Option, OrderId
from governance.approvals import ApprovalGateway, CardState, CardView, Use
from governance.approvals.afterwards import ask_back, review
from governance.approvals.following import FollowsCards
from governance.approvals.index import CardIndex
from governance.approvals.matching import action_of
from governance.approvals.modes import Standing
from governance.approvals.proposals import KEEP, LOOSEN
from governance.approvals.sampling import is_sampled
from governance.errors import CannotBeUndone, NotAllowedToDecide, ReviewRefused
from runtime.capabilities.port import Allowed, Refused, Waiting
from runtime.errors import InvalidArguments
from runtime.ledger.port import Append, NewEvent
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.approvals.gates import gate_with
from tests.governance.cards import (
    ARGUMENTS,
    MORGAN,
    ORGANISATION,
    ROBIN,
    SAM,
    VERA,
    WAIVE,
    action,
    card,
    effect,
    option,
    order,
)

pytestmark = pytest.mark.anyio
WRITE = replace(WAIVE, effect=Effect.WRITE)
WAY_BACK = action_of(WRITE, "notifier", {"airports": ["EWR"], "flights": 0, "note": "back"})


def reversible() -> Option:
    acts = action(effect=Effect.WRITE)
    return option("waive", acts).model_copy(update={"reversible": True, "undo": (WAY_BACK,)})


async def raised(store: SqlStore, gateway: ApprovalGateway, *, passed: bool = False, **fields: Any) -> DecisionCard:
    fields = {
        "options": (reversible(), option("nothing")),
        "mode_why": "policy",
        "raised_at": gateway.clock.now(),
        **fields,
    }
    new = card(**fields)
    how = {"option": "waive", "mode": "post_hoc", "why": "policy"} if passed else None
    await store.ledger.append(gateway.card_append(new, passed=how))
    return new


async def told(store: SqlStore, shown: DecisionCard, order_id: OrderId, *events: tuple[str, dict[str, Any]]) -> None:
    stands = len(await store.ledger.read(order_id))
    made = [NewEvent(type_, {"step": "do", "index": None, **data}) for type_, data in events]
    await store.ledger.append(Append(order_id, made, stands, ORGANISATION, "/test", shown.execution_id))


async def carried_out(
    store: SqlStore,
    gateway: ApprovalGateway,
    shown: DecisionCard,
    *ends: tuple[str, dict[str, Any]],
    back: bool = False,
) -> OrderId:
    """Use the approval as an engine does, and let the order end so."""
    order_id = OrderId.new()
    use = Use(order_id, f"{order_id}:do", 0, back)
    await store.ledger.append(gateway.use_append(await gateway.get(shown.card_id), use))
    await told(store, shown, order_id, ("effect.intended", {"key": use.key}), *ends)
    return order_id


@pytest.fixture
def follower(sqlite_store: SqlStore, clock: HandClock) -> FollowsCards:
    return FollowsCards(sqlite_store, clock, say_in=say_in, right_in_a_row=3)


async def right(store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards) -> CardView:
    """Have one more card decided as it was offered, and carried out."""
    shown = await raised(store, gateway)
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    await carried_out(store, gateway, shown, ("step.finished", {}))
    await follower.catch_up()
    await follower.catch_up()
    return await gateway.get(shown.card_id)


@pytest.mark.parametrize(
    ("ends", "state"),
    [
        ([("step.finished", {})], CardState.EXECUTED),
        ([("step.failed", {"final": True, "problem": {"message": "away"}})], CardState.EXECUTION_FAILED),
        ([("step.failed", {"final": False, "problem": {"message": "away"}})], CardState.APPROVED),
        ([], CardState.APPROVED),
        ([("step.finished", {"step": "other"})], CardState.APPROVED),
    ],
)
async def test_what_became_of_an_approved_action_follows_from_its_order(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards, ends: Sequence[Any], state: CardState
) -> None:
    shown = await raised(sqlite_store, gateway)
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    await carried_out(sqlite_store, gateway, shown, *ends)
    for _ in range(3):
        await follower.catch_up()

    view = await gateway.get(shown.card_id)
    assert (view.state, view.is_approved, view.decided_by) == (state, True, "morgan")
    assert view.reason == ("away" if state is CardState.EXECUTION_FAILED else "")


async def test_a_failure_that_a_resumed_execution_mended_is_carried_out(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards
) -> None:
    shown = await raised(sqlite_store, gateway)
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    order_id = await carried_out(sqlite_store, gateway, shown, ("step.failed", {"final": True, "problem": {}}))
    await follower.catch_up()
    assert (await gateway.get(shown.card_id)).state is CardState.EXECUTION_FAILED

    await told(
        sqlite_store, shown, order_id, ("effect.intended", {"key": f"{order_id}:do"}), ("step.finished", {})
    )  # fmt: skip
    await follower.catch_up()
    assert (await gateway.get(shown.card_id)).state is CardState.EXECUTED


async def test_what_is_asked_back_passes_the_gate_exactly_so_once_and_by_nobody_else(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards, clock: HandClock
) -> None:
    shown = (await right(sqlite_store, gateway, follower)).card
    gate = gate_with(gateway, clock)
    taker = order(execution_id=ExecutionId.new(), authority=shown.card_id)
    exactly = effect(taker, WAY_BACK.arguments, spec=WRITE)
    assert isinstance(await gate.authorise(exactly), Waiting)

    with pytest.raises(NotAllowedToDecide):
        await ask_back(gateway, shown.card_id, person=ROBIN, within_s=60, via="test", reason="")
    asked = await ask_back(gateway, shown.card_id, person=SAM, within_s=60, via="test", reason="wrong day")
    again = await ask_back(gateway, shown.card_id, person=MORGAN, within_s=60, via="test", reason="")
    assert (asked.back, again.back) == (asked.back, asked.back) and asked.back is not None and asked.back.by == "sam"

    other = effect(taker, {**WAY_BACK.arguments, "flights": 9}, spec=WRITE)
    assert isinstance(await gate.authorise(other), Waiting)
    assert isinstance(await gate.authorise(exactly), Allowed)
    await carried_out(sqlite_store, gateway, shown, ("step.finished", {}), back=True)
    assert isinstance(await gate.authorise(exactly), Waiting)
    await follower.catch_up()
    assert (await gateway.get(shown.card_id)).state is CardState.UNDONE


async def test_nothing_is_taken_back_after_its_time_without_a_way_or_before_it_was_done(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards, clock: HandClock
) -> None:
    done = (await right(sqlite_store, gateway, follower)).card
    clock.advance(61)
    with pytest.raises(CannotBeUndone, match="could be taken back until"):
        await ask_back(gateway, done.card_id, person=SAM, within_s=60, via="test", reason="")

    open_ = await raised(sqlite_store, gateway)
    with pytest.raises(CannotBeUndone, match="nothing to take back"):
        await ask_back(gateway, open_.card_id, person=SAM, within_s=60, via="test", reason="")

    final = await raised(sqlite_store, gateway, options=(option("waive", action()), option("nothing")))
    await gateway.decide(final.card_id, person=MORGAN, approve=True, option="waive")
    await carried_out(sqlite_store, gateway, final, ("step.finished", {}))
    await follower.catch_up()
    with pytest.raises(CannotBeUndone, match="no way"):
        await ask_back(gateway, final.card_id, person=SAM, within_s=60, via="test", reason="")


async def test_what_was_right_often_enough_in_a_row_is_proposed_once_and_holds_with_a_yes(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards
) -> None:
    index = CardIndex(sqlite_store)
    for _ in range(2):
        await right(sqlite_store, gateway, follower)
    assert await index.waiting() == []
    await right(sqlite_store, gateway, follower)
    (proposed,) = [await gateway.get(each) for each in await index.waiting()]

    assert (proposed.card.kind, proposed.card.mode) == (CardKind.PROPOSAL, ApprovalMode.STRICT)
    assert proposed.card.proposes == {"mode": "threshold", "over": "strict", "capability": WAIVE.name}
    assert [each.id for each in proposed.card.options] == [LOOSEN, KEEP]
    assert await gateway.standings.of(WAIVE.name) == Standing()
    await gateway.decide(proposed.card.card_id, person=MORGAN, approve=True, option=LOOSEN)
    assert await gateway.standings.of(WAIVE.name) == Standing(ApprovalMode.THRESHOLD, over=ApprovalMode.STRICT)


@pytest.mark.parametrize(("option_", "quorum"), [(KEEP, 1), (None, 1), (LOOSEN, 2)])
async def test_nothing_but_the_whole_yes_loosens(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards, option_: str | None, quorum: int
) -> None:
    for _ in range(3):
        shown = await raised(sqlite_store, gateway, quorum=quorum)
        for person in (MORGAN, SAM)[:quorum]:
            await gateway.decide(shown.card_id, person=person, approve=True, option="waive")
        await carried_out(sqlite_store, gateway, shown, ("step.finished", {}))
    await follower.catch_up()
    await follower.catch_up()
    (proposed,) = await CardIndex(sqlite_store).waiting()
    await gateway.decide(proposed, person=MORGAN, approve=option_ is not None, option=option_, reason="not yet")
    assert await gateway.standings.of(WAIVE.name) == Standing()


async def test_whatever_is_not_right_begins_the_row_anew(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards
) -> None:
    for choice in (None, "nothing"):
        for _ in range(2):
            await right(sqlite_store, gateway, follower)
        other = await raised(sqlite_store, gateway)
        await gateway.decide(other.card_id, person=MORGAN, approve=choice is not None, option=choice, reason="no")
        await follower.catch_up()
    assert await CardIndex(sqlite_store).waiting() == []


async def test_what_passed_by_itself_counts_only_once_somebody_said_that_it_was_right(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards
) -> None:
    index = CardIndex(sqlite_store)
    cards = [await raised(sqlite_store, gateway, passed=True, mode=ApprovalMode.THRESHOLD) for _ in range(3)]
    for shown in cards:
        await carried_out(sqlite_store, gateway, shown, ("step.finished", {}))
    await follower.catch_up()
    await follower.catch_up()
    assert await index.waiting() == []
    assert await index.unreviewed() == sorted(each.card_id for each in cards)

    for shown in cards:
        await review(gateway, shown.card_id, person=MORGAN, right=True, via="test", reason="")
    await follower.catch_up()
    (proposed,) = [await gateway.get(each) for each in await index.waiting()]
    assert proposed.card.proposes["mode"] == "post_hoc"
    assert await index.unreviewed() == []


async def test_one_serious_error_sets_back_to_strict_in_the_commit_of_the_review(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards
) -> None:
    for _ in range(3):
        await right(sqlite_store, gateway, follower)
    (proposed,) = await CardIndex(sqlite_store).waiting()
    await gateway.decide(proposed, person=MORGAN, approve=True, option=LOOSEN)
    wrong = await raised(sqlite_store, gateway, passed=True)
    with pytest.raises(InvalidArguments, match="Say what was wrong"):
        await review(gateway, wrong.card_id, person=SAM, right=False, via="test", reason=" ")
    reviewed = await review(gateway, wrong.card_id, person=SAM, right=False, via="test", reason="wrong day")

    assert await gateway.standings.of(WAIVE.name) == Standing(set_back=True)
    assert (reviewed.reviews[-1].by, reviewed.reviews[-1].reason) == ("sam", "wrong day")


async def test_what_passed_before_a_serious_error_is_not_carried_out_after_it(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    gate = gate_with(gateway, clock)
    acts = option("waive", action())
    passes = await raised(sqlite_store, gateway, passed=True, options=(acts, option("nothing")))
    asks = effect(order(execution_id=passes.execution_id, authority=passes.card_id), ARGUMENTS)
    assert isinstance(await gate.authorise(asks), Allowed)
    wrong = await raised(sqlite_store, gateway, passed=True)
    await review(gateway, wrong.card_id, person=SAM, right=False, via="test", reason="wrong day")
    assert isinstance(await gate.authorise(asks), Waiting)


async def test_who_decided_or_could_not_decide_reviews_nothing(
    sqlite_store: SqlStore, gateway: ApprovalGateway
) -> None:
    shown = await raised(sqlite_store, gateway)
    with pytest.raises(ReviewRefused):
        await review(gateway, shown.card_id, person=SAM, right=True, via="test", reason="")
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    for person in (MORGAN, ROBIN, VERA):
        with pytest.raises(NotAllowedToDecide):
            await review(gateway, shown.card_id, person=person, right=True, via="test", reason="")


def test_a_sample_is_a_share_that_stays_and_only_grows() -> None:
    ids = [card().card_id for _ in range(2_000)]
    tenth, half = ({each for each in ids if is_sampled(each, share)} for share in (0.1, 0.5))
    assert 130 < len(tenth) < 280 and tenth < half
    assert not any(is_sampled(each, 0) for each in ids) and all(is_sampled(each, 1) for each in ids)


async def test_what_was_taken_back_is_not_done_again_by_the_failed_execution_that_goes_on(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards, clock: HandClock
) -> None:
    acts = reversible().model_copy(update={"actions": (action_of(WRITE, "notifier", ARGUMENTS),)})
    shown = await raised(sqlite_store, gateway, options=(acts, option("nothing")))
    await gateway.decide(shown.card_id, person=MORGAN, approve=True, option="waive")
    order_id = await carried_out(sqlite_store, gateway, shown, ("step.failed", {"final": True, "problem": {}}))
    await follower.catch_up()
    gate = gate_with(gateway, clock)
    resumed = order(execution_id=shown.execution_id, authority=shown.card_id, order_id=order_id)
    again = effect(resumed, spec=WRITE)
    assert isinstance(await gate.authorise(again), Allowed)

    await ask_back(gateway, shown.card_id, person=SAM, within_s=60, via="test", reason="half of it happened")
    answer = await gate.authorise(again)
    assert isinstance(answer, Refused) and answer.code == "TAKEN_BACK"
    other = effect(order(execution_id=shown.execution_id, authority=shown.card_id), spec=WRITE)
    assert isinstance(await gate.authorise(other), Waiting)
    assert (await gateway.get(shown.card_id)).state is CardState.EXECUTION_FAILED


async def test_one_card_counts_once_however_often_somebody_says_that_it_was_right(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards
) -> None:
    shown = await raised(sqlite_store, gateway, passed=True, mode=ApprovalMode.THRESHOLD)
    await carried_out(sqlite_store, gateway, shown, ("step.finished", {}))
    for _ in range(5):
        await review(gateway, shown.card_id, person=MORGAN, right=True, via="test", reason="")
    await follower.catch_up()
    assert await CardIndex(sqlite_store).waiting() == []


async def test_a_proposal_from_before_a_serious_error_loosens_nothing_after_it(
    sqlite_store: SqlStore, gateway: ApprovalGateway, follower: FollowsCards
) -> None:
    for _ in range(3):
        await right(sqlite_store, gateway, follower)
    (proposed,) = await CardIndex(sqlite_store).waiting()
    wrong = await raised(sqlite_store, gateway, passed=True)
    await review(gateway, wrong.card_id, person=SAM, right=False, via="test", reason="wrong day")
    with pytest.raises(InvalidArguments, match="A serious error set"):
        await gateway.decide(proposed, person=MORGAN, approve=True, option=LOOSEN)
    assert await gateway.standings.of(WAIVE.name) == Standing(set_back=True)
    assert not (await gateway.decide(proposed, person=MORGAN, approve=False, reason="not now")).is_approved
