from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agents.cognition.advise import AdviseCapability
from console.texts import say_in
from contracts import ApprovalMode, Confidence, DecisionCard, Json, PlanDefinition
from governance.approvals import ApprovalGateway
from governance.approvals.matching import is_as_shown
from runtime.capabilities.port import CallContext, CallResult, Origin, Waiting
from runtime.errors import CapabilityFailed, InvalidArguments, PermissionRefused
from runtime.ledger.store import SqlStore
from tests.fakes.clock import HandClock
from tests.governance.cards import MONEY, MORGAN, NOW, RULES, WAIVE, effect, order

pytestmark = pytest.mark.anyio

OPTIONS = """
question: {en: "Waive fees for {{ hits }} flights?", zh: "为{{ hits }}个航班免除改签费？"}
impact: "{{ hits }} of {{ finding.n }} flights are cancelled ({{ finding.rate | 0.1% }})."
policy: money
options:
  - id: waive
    title: "Waive at {{ airports }}"
    when: finding.verdict == 'weather'
    benefit: Calm
    risk: Cost
    cost: "{{ hits }} fees"
    confidence: high
    do: [{by: notifier, use: desk.waive_fees, with: {airports: "{{ airports }}", flights: "{{ hits }}"}}]
  - id: half
    title: Waive at one
    when: hits > 100
    benefit: b
    risk: r
    cost: c
    confidence: low
    do: [{by: notifier, use: desk.waive_fees, with: {airports: ["{{ airports[0] }}"], flights: 1}}]
  - {id: nothing, title: Nothing, when: "false", benefit: b, risk: r, cost: c}
  - id: third
    title: One too many
    benefit: b
    risk: r
    cost: c
    do: [{by: notifier, use: desk.waive_fees, with: {airports: [], flights: 1}}]
"""
FINDING: dict[str, Json] = {"verdict": "weather", "confidence": "medium", "n": 930, "rate": 0.5075}


def arguments(**changes: Json) -> dict[str, Json]:
    values: dict[str, Json] = {
        "options": {"file": "options.yaml", "text": OPTIONS},
        "finding": FINDING,
        "hits": 472,
        "airports": ["EWR", "JFK"],
    }
    return {**values, **changes}


def context(**fields: Any) -> CallContext:
    origin = Origin("analyst/attribute", "", "a" * 64, None, "d" * 64)
    values: dict[str, Any] = {"order": order(), "step": "choose", "key": "k", "attempt": 1, "now": NOW}
    return CallContext(**{**values, "origins": {"finding": origin}, **fields})


@pytest.fixture
def advise(gateway: ApprovalGateway) -> AdviseCapability:
    return AdviseCapability(lambda: {WAIVE.name: WAIVE}, RULES, gateway, say_in=say_in)


async def asked(advise: AdviseCapability, given: dict[str, Json], about: CallContext | None = None) -> DecisionCard:
    answer = await advise.call(given, about or context())
    assert isinstance(answer, Waiting)
    return DecisionCard.model_validate(answer.appends[0].events[0].data["card"])


def ids(card: DecisionCard) -> list[str]:
    return [option.id for option in card.options]


async def test_the_first_call_raises_a_complete_card(advise: AdviseCapability) -> None:
    card = await asked(advise, arguments())
    assert card.question == {"en": "Waive fees for 472 flights?", "zh": "为472个航班免除改签费？"}
    assert card.impact == "472 of 930 flights are cancelled (50.8 %)."
    assert (card.policy, card.who, card.quorum, card.requested_by) == ("money", ("duty-managers",), 1, "robin")
    assert card.deadline == NOW + timedelta(hours=2)
    assert card.evidence == ("a" * 64, "d" * 64)
    assert set(card.facts) == {"hits", "finding.n", "finding.rate"}


async def test_at_most_three_options_apply_in_their_order_doing_nothing_among_them(advise: AdviseCapability) -> None:
    assert ids(await asked(advise, arguments())) == ["waive", "half", "nothing"]
    assert ids(await asked(advise, arguments(hits=1))) == ["waive", "nothing", "third"]
    assert ids(await asked(advise, arguments(hits=1, finding={**FINDING, "verdict": "slice"}))) == ["nothing", "third"]


async def test_no_option_claims_more_than_the_finding(advise: AdviseCapability) -> None:
    card = await asked(advise, arguments())
    assert [option.confidence for option in card.options] == [Confidence.MEDIUM, Confidence.LOW, Confidence.MEDIUM]


async def test_without_a_finding_no_confidence_is_told_whatever_an_option_says(advise: AdviseCapability) -> None:
    given = arguments(options=OPTIONS.replace("when: finding.verdict == 'weather'", "").replace("finding.n", "hits"))
    given["options"] = str(given["options"]).replace("({{ finding.rate | 0.1% }})", "")
    del given["finding"]
    assert {option.confidence for option in (await asked(advise, given)).options} == {None}


async def test_an_irreversible_action_makes_an_option_irreversible_whatever_it_says(advise: AdviseCapability) -> None:
    card = await asked(advise, arguments())
    assert [option.reversible for option in card.options] == [False, False, True]


async def test_what_the_card_shows_is_what_the_gate_will_see(advise: AdviseCapability) -> None:
    card = await asked(advise, arguments())
    shown = card.options[0].actions[0]
    assert shown.arguments == {"airports": ["EWR", "JFK"], "flights": 472, "note": "storm"}
    assert is_as_shown(shown, effect(arguments={"airports": ["EWR", "JFK"], "flights": 472}))


@pytest.mark.parametrize("choice", ["waive", "nothing", None, "late"])
async def test_after_the_decision_the_step_gives_what_was_chosen(
    advise: AdviseCapability, gateway: ApprovalGateway, sqlite_store: SqlStore, clock: HandClock, choice: str | None
) -> None:
    first = context()
    answer = await advise.call(arguments(), first)
    assert isinstance(answer, Waiting)
    await sqlite_store.ledger.append(*answer.appends)
    [card_id] = answer.ids
    waiting = context(pending=answer.ids, order=first.order)
    assert await advise.call(arguments(), waiting) == Waiting(answer.ids)
    if choice == "late":
        clock.advance(7_200)
        await gateway.judge(card_id, clock.now())  # type: ignore[arg-type]
    else:
        yes = choice is not None
        await gateway.decide(card_id, person=MORGAN, approve=yes, option=choice, reason="b")  # type: ignore[arg-type]
    result = await advise.call(arguments(), waiting)
    assert isinstance(result, CallResult)
    outcome = {None: "denied", "late": "expired"}.get(choice, "approved")
    assert (result.output["outcome"], result.output["card"]) == (outcome, card_id)
    assert result.output["option"] == (choice if outcome == "approved" else None)
    assert len(result.output["actions"]) == (1 if choice == "waive" else 0)
    assert result.output["by"] == (None if choice == "late" else "morgan")


async def test_where_only_doing_nothing_applies_nobody_is_asked(advise: AdviseCapability) -> None:
    options = OPTIONS.partition("  - id: third")[0]
    result = await advise.call(arguments(options=options, hits=1, finding={**FINDING, "verdict": "none"}), context())
    assert isinstance(result, CallResult)
    assert (result.output["outcome"], result.output["actions"], result.output["card"]) == (
        "nothing_to_decide",
        [],
        None,
    )


async def test_a_condition_that_cannot_be_worked_out_is_an_error_and_drops_no_option(advise: AdviseCapability) -> None:
    with pytest.raises(CapabilityFailed, match="verdict"):
        await advise.call(arguments(finding={"confidence": "high"}), context())
    with pytest.raises(InvalidArguments, match="option waive has a condition"):
        await advise.call(arguments(options=OPTIONS.replace("finding.verdict ==", "findin.verdict ==")), context())


async def test_an_option_that_uses_what_is_not_there_is_refused(advise: AdviseCapability) -> None:
    with pytest.raises(InvalidArguments, match=r"desk\.refund, which is no capability; there is: desk\.waive_fees"):
        await advise.call(arguments(options=OPTIONS.replace("desk.waive_fees", "desk.refund")), context())


async def test_a_rule_that_is_not_there_refuses(gateway: ApprovalGateway) -> None:
    def with_rules(rules: dict[str, Any]) -> AdviseCapability:
        return AdviseCapability(lambda: {WAIVE.name: WAIVE}, rules, gateway, say_in=say_in)

    with pytest.raises(PermissionRefused, match="approval rule money"):
        await with_rules({"default": MONEY}).call(arguments(), context())


SMALL = replace(MONEY, mode=ApprovalMode.THRESHOLD, impact="arguments.flights", under=1_000)
SURE: dict[str, Json] = {**FINDING, "confidence": "high"}
JUDGES = PlanDefinition.model_validate({"steps": [
    {"id": "judge", "react": "How sure is it?"}, {"id": "attribute", "use": "attribute"},
    {"id": "desk", "skill": "look"},
    {"id": "group", "parallel": [{"id": "query", "use": "flights.query"}]},
    {"id": "script", "use": "python", "with": {"rows": "{{ group.query.rows }}"}},
    {"id": "told", "use": "python", "with": {"label": "{{ judge.label }}"}},
]})  # fmt: skip


@pytest.mark.parametrize(
    ("said_by", "step", "passes"),
    [("analyst/attribute", "choose", True), ("analyst/judge", "choose", False), ("input", "judge", False),
     ("analyst/attribute, analyst/judge", "choose", False), ("analyst/desk", "choose", False),
     ("analyst/script", "choose", True), ("analyst/told", "choose", False), ("analyst/query", "choose", False),
     ("input", "choose", False)],
)  # fmt: skip
async def test_what_a_model_says_of_its_own_confidence_lets_nothing_pass(
    gateway: ApprovalGateway, said_by: str, step: str, passes: bool
) -> None:
    rules = {"money": SMALL, "default": SMALL}
    advise = AdviseCapability(lambda: {WAIVE.name: WAIVE}, rules, gateway, say_in=say_in)
    about = context(order=order(plan=JUDGES), step=step, origins={"finding": Origin(said_by, "", "a" * 64)})
    answer = await advise.call(arguments(finding=SURE), about)
    assert isinstance(answer, CallResult) is passes
