"""Case A2 on a real store: what runs is what was shown, and once."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from contracts import ApprovalMode, CardKind, DecisionCard, Effect, ExecutionId
from governance.approvals import ApprovalGate, ApprovalGateway, ApprovalRule
from governance.approvals.effect_cards import DO, NOTHING
from governance.policies import Policy, PolicyBook
from runtime.capabilities.port import Allowed, EffectRequest, Refused, Waiting
from runtime.errors import PermissionRefused, VersionConflict
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.approvals.gates import card_of, gate_with, under
from tests.governance.cards import ARGUMENTS, DANA, MORGAN, RULES, WAIVE, action, card, effect, say

pytestmark = pytest.mark.anyio


async def approved(store: SqlStore, gateway: ApprovalGateway, *actions: Any, **fields: Any) -> DecisionCard:
    new = card(*actions, **fields)
    await store.ledger.append(gateway.card_append(new))
    await gateway.decide(new.card_id, person=MORGAN, approve=True, option="waive")
    return new


async def waiting(store: SqlStore, gate: ApprovalGate, request: EffectRequest) -> EffectRequest:
    """Let the gate raise its card, and return the request as it comes again."""
    answer = await gate.authorise(request)
    assert isinstance(answer, Waiting)
    await store.ledger.append(*answer.appends)
    return replace(request, pending=(*request.pending, *answer.ids))  # type: ignore[arg-type]


async def test_a_request_that_breaks_a_policy_is_refused_whatever_was_approved(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    many = {**ARGUMENTS, "flights": 12_000}
    shown = await approved(sqlite_store, gateway, action(**{"with": {**many, "note": "storm"}}))
    answer = await gate.authorise(effect(under(shown), many))
    assert isinstance(answer, Refused)
    assert answer.code == "POLICY_VIOLATED"
    assert answer.reason.endswith(": At most 2,000 flights (`arguments.flights <= 2000` does not hold).")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ({"en": "Keep it cheap.", "zh": "从简。"}, "forbids {use}: Keep it cheap (`false` does not hold)."),
        ({"zh": "从简。"}, "forbids {use}: `false` does not hold."),
    ],
)
async def test_a_refusal_says_the_rule_in_the_words_of_the_order(
    gateway: ApprovalGateway, clock: HandClock, text: dict[str, str], told: str
) -> None:
    book = PolicyBook([Policy("never", text, "false")])
    gate = ApprovalGate(gateway, lambda: book, RULES, say_in=lambda _: say, clock=clock)

    answer = await gate.authorise(effect())

    assert isinstance(answer, Refused)
    assert answer.reason == "The rule never " + told.format(use=effect().spec.name)


async def test_an_approved_action_passes_and_is_used_up_in_the_commit_of_the_intent(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    shown = await approved(sqlite_store, gateway)
    answer = await gate.authorise(effect(under(shown)))
    assert isinstance(answer, Allowed)
    assert answer.card == shown.card_id
    assert (await gateway.get(shown.card_id)).used_by == ()
    await sqlite_store.ledger.append(*answer.appends)
    assert len((await gateway.get(shown.card_id)).used_by) == 1


async def test_a_declared_default_is_part_of_what_was_shown(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    shown = await approved(sqlite_store, gateway)
    assert isinstance(await gate.authorise(effect(under(shown), {**ARGUMENTS, "note": "storm"})), Allowed)
    assert isinstance(await gate.authorise(effect(under(shown), {**ARGUMENTS, "note": "flood"})), Waiting)


CHANGED = {
    "an argument": lambda o: effect(o, {**ARGUMENTS, "flights": 473}),
    "the type of an argument": lambda o: effect(o, {**ARGUMENTS, "airports": "EWR"}),
    "an argument more": lambda o: effect(o, {**ARGUMENTS, "to": "me"}),
    "an argument less": lambda o: effect(o, {"flights": 472}),
    "the declaration": lambda o: effect(o, spec=replace(WAIVE, declaration={"path": "/elsewhere"})),
    "the effect": lambda o: effect(o, spec=replace(WAIVE, effect=Effect.WRITE)),
    "the capability": lambda o: effect(o, spec=replace(WAIVE, name="desk.refund")),
    "who does it": lambda o: effect(o.model_copy(update={"employee": "somebody"})),
    "the execution": lambda o: effect(o.model_copy(update={"execution_id": ExecutionId.new()})),
}


@pytest.mark.parametrize("change", CHANGED)
async def test_whatever_differs_from_what_was_shown_needs_a_new_card(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate, change: str
) -> None:
    shown = await approved(sqlite_store, gateway)
    answer = await gate.authorise(CHANGED[change](under(shown)))
    assert isinstance(answer, Waiting)
    assert shown.card_id not in answer.ids


async def test_an_action_of_an_option_that_was_not_chosen_does_not_pass(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    new = card()
    await sqlite_store.ledger.append(gateway.card_append(new))
    await gateway.decide(new.card_id, person=MORGAN, approve=True, option="nothing")
    answer = await gate.authorise(effect(under(new)))
    assert isinstance(answer, Refused)
    assert answer.code == "DENIED"


async def test_the_same_call_may_come_again_after_a_crash_and_uses_nothing_more(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    request = effect(under(await approved(sqlite_store, gateway)))
    first = await gate.authorise(request)
    assert isinstance(first, Allowed)
    await sqlite_store.ledger.append(*first.appends)
    assert await gate.authorise(request) == Allowed(request.order.authority, ())


async def test_another_call_finds_the_action_used_and_a_person_is_asked(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    shown = await approved(sqlite_store, gateway)
    first = await gate.authorise(effect(under(shown)))
    assert isinstance(first, Allowed)
    await sqlite_store.ledger.append(*first.appends)
    assert isinstance(await gate.authorise(effect(under(shown))), Waiting)


async def test_of_many_calls_at_once_exactly_one_uses_the_card(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    async def act(shown: DecisionCard) -> bool:
        answer = await gate.authorise(effect(under(shown)))
        if not isinstance(answer, Allowed):
            return False
        try:
            await sqlite_store.ledger.append(*answer.appends)
        except VersionConflict:
            return False
        return True

    for _ in range(25):
        shown = await approved(sqlite_store, gateway)
        assert sum(await asyncio.gather(*(act(shown) for _ in range(4)))) == 1


async def test_two_actions_of_one_option_are_each_used_once(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    shown = await approved(sqlite_store, gateway, action(), action())
    for _ in range(2):
        answer = await gate.authorise(effect(under(shown)))
        assert isinstance(answer, Allowed)
        await sqlite_store.ledger.append(*answer.appends)
    assert [use.action for use in (await gateway.get(shown.card_id)).used_by] == [0, 1]
    assert isinstance(await gate.authorise(effect(under(shown))), Waiting)


async def test_without_an_approval_a_card_shows_exactly_what_would_happen(gate: ApprovalGate) -> None:
    request = effect()
    answer = await gate.authorise(request)
    assert isinstance(answer, Waiting)
    raised = DecisionCard.model_validate(answer.appends[0].events[0].data["card"])
    assert (raised.kind, raised.policy, raised.who) == (CardKind.EFFECT, "money", ("duty-managers",))
    assert [option.id for option in raised.options] == [DO, NOTHING]
    assert raised.options[0].actions == (action(),)
    assert raised.requested_by == "robin"


async def test_a_yes_to_the_card_lets_the_effect_pass_and_the_same_card_waits_until_then(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate
) -> None:
    request = await waiting(sqlite_store, gate, effect())
    assert await gate.authorise(request) == Waiting(request.pending)
    await gateway.decide(card_of(request), person=MORGAN, approve=True, option=DO)
    assert isinstance(await gate.authorise(request), Allowed)
    changed = replace(request, arguments={**ARGUMENTS, "flights": 1})
    assert isinstance(await gate.authorise(changed), Waiting)


@pytest.mark.parametrize(("option", "code"), [(None, "DENIED"), (NOTHING, "DENIED"), ("late", "EXPIRED")])
async def test_a_no_nothing_and_silence_each_refuse_by_their_own_name(
    sqlite_store: SqlStore, gateway: ApprovalGateway, gate: ApprovalGate, clock: HandClock, option: str, code: str
) -> None:
    request = await waiting(sqlite_store, gate, effect())
    if option == "late":
        clock.advance(7_200)
        await gateway.judge(card_of(request), clock.now())
    else:
        await gateway.decide(
            card_of(request), person=MORGAN, approve=option is not None, option=option, reason="because"
        )
    answer = await gate.authorise(request)
    assert isinstance(answer, Refused)
    assert answer.code == code


async def test_an_approval_under_another_rule_counts_only_by_the_people_of_the_own_rule(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock
) -> None:
    directors = ApprovalRule("money", ("directors",))
    gate = gate_with(gateway, clock, {**RULES, "money": directors})
    by_manager = await approved(sqlite_store, gateway, policy="default")
    assert isinstance(await gate.authorise(effect(under(by_manager))), Waiting)
    new = card(policy="default", who=("directors",))
    await sqlite_store.ledger.append(gateway.card_append(new))
    await gateway.decide(new.card_id, person=DANA, approve=True, option="waive")
    assert isinstance(await gate.authorise(effect(under(new))), Allowed)


async def test_without_an_approval_rule_nothing_happens(gateway: ApprovalGateway, clock: HandClock) -> None:
    gate = gate_with(gateway, clock, {"default": RULES["default"]})
    answer = await gate.authorise(effect())
    assert isinstance(answer, Refused)
    assert answer.code == "NO_APPROVAL_RULE"
    with pytest.raises(PermissionRefused):
        await gate.in_doubt(effect())


@pytest.mark.parametrize("mode", ApprovalMode)
async def test_what_no_statistics_tell_waits_for_a_person_whatever_the_mode(
    sqlite_store: SqlStore, gateway: ApprovalGateway, clock: HandClock, mode: ApprovalMode
) -> None:
    loose = replace(RULES["money"], mode=mode, impact="0", under=1.0)
    request = await waiting(sqlite_store, gate_with(gateway, clock, {"money": loose}), effect())
    raised = (await gateway.get(card_of(request))).card
    assert (raised.mode, raised.mode_why) == (
        ApprovalMode.STRICT, "policy" if mode is ApprovalMode.STRICT else "confidence",
    )  # fmt: skip
