"""An option that could not be carried out is not offered, and the reason is never lost."""

from __future__ import annotations

from typing import Any

import pytest

from agents.cognition.advise import AdviseCapability, not_offered
from console.texts import say_in
from contracts import DecisionCard, Effect, Json, Parameter, ValueType
from governance.approvals import ApprovalGateway
from governance.policies import Policy, PolicyBook
from runtime.capabilities.port import CallContext, CallResult, CapabilitySpec, Waiting
from runtime.errors import InvalidArguments
from runtime.ledger.store import SqlStore
from tests.governance.cards import MORGAN, NOW, RULES, order

pytestmark = pytest.mark.anyio

DISCOUNT = CapabilitySpec(
    name="till.discount",
    kind="service_tool",
    description="Sets a discount.",
    parameters={"percent": Parameter(type=ValueType.INTEGER), "note": Parameter(type=ValueType.ANY, default=0)},
    gives={},
    effect=Effect.WRITE,
)
LIMIT = Policy(
    "limit", {"en": "At most 30 percent.", "zh": "最多三成。"}, "arguments.percent <= 30 && arguments.note >= 0"
)
FORBIDDEN = {
    "option": "half", "reason": "forbidden", "use": "till.discount", "rule": "limit", "why": "At most 30 percent."
}  # fmt: skip


def options(**acts: dict[str, Json]) -> dict[str, Json]:
    texts: dict[str, Json] = {"title": "t", "benefit": "b", "risk": "r", "cost": "c"}
    doing: list[Json] = [
        {"id": name, **texts, "do": [{"by": "cashier", "use": "till.discount", "with": arguments}]}
        for name, arguments in acts.items()
    ]
    return {"question": "q", "impact": "i", "options": [*doing, {"id": "nothing", **texts}]}


@pytest.fixture
def advise(gateway: ApprovalGateway) -> AdviseCapability:
    return AdviseCapability(
        lambda: {DISCOUNT.name: DISCOUNT}, RULES, gateway, lambda: PolicyBook([LIMIT]), say_in=say_in
    )


def context(**fields: Any) -> CallContext:
    values: dict[str, Any] = {"order": order(), "step": "choose", "key": "k", "attempt": 1, "now": NOW}
    return CallContext(**{**values, **fields})


async def nothing_of(advise: AdviseCapability, given: dict[str, Json], **fields: Any) -> list[Any]:
    result = await advise.call({"options": given}, context(**fields))
    assert isinstance(result, CallResult) and result.output["outcome"] == "nothing_to_decide"
    assert [each.data for each in result.events] == [{"not_offered": result.output["not_offered"]}]
    return list(result.output["not_offered"])


async def card_of(advise: AdviseCapability, given: dict[str, Json]) -> DecisionCard:
    answer = await advise.call({"options": given}, context())
    assert isinstance(answer, Waiting)
    return DecisionCard.model_validate(answer.appends[0].events[0].data["card"])


async def test_where_a_rule_forbids_every_option_the_step_says_so(advise: AdviseCapability) -> None:
    assert await nothing_of(advise, options(half={"percent": 50})) == [FORBIDDEN]
    [told] = await nothing_of(advise, options(half={"percent": 50}), order=order(language="zh"))
    assert told["why"] == "最多三成。"


async def test_the_card_and_the_step_after_it_tell_what_a_rule_forbids(
    advise: AdviseCapability, gateway: ApprovalGateway, sqlite_store: SqlStore
) -> None:
    given: dict[str, Json] = {"options": options(half={"percent": 50}, fifth={"percent": 20})}
    answer = await advise.call(given, context())
    assert isinstance(answer, Waiting)
    await sqlite_store.ledger.append(*answer.appends)
    view = await gateway.get(answer.ids[0])  # type: ignore[arg-type]
    assert [option.id for option in view.card.options] == ["fifth", "nothing"]
    fact = view.card.facts["not offered: half"]
    assert fact == {"value": "At most 30 percent.", "source": "rules/limit.yaml", **FORBIDDEN}

    await gateway.decide(view.card.card_id, person=MORGAN, approve=True, option="fifth")
    result = await advise.call(given, context(pending=answer.ids))
    assert isinstance(result, CallResult) and result.output["not_offered"] == [FORBIDDEN]


async def test_an_option_that_is_forbidden_takes_no_place_on_the_card(advise: AdviseCapability) -> None:
    card = await card_of(advise, options(a={"percent": 50}, b={"percent": 1}, c={"percent": 2}))
    assert [option.id for option in card.options] == ["b", "c", "nothing"]


async def test_a_rule_that_nobody_could_judge_is_told_as_that(advise: AdviseCapability) -> None:
    [told] = await nothing_of(advise, options(odd={"percent": 20, "note": "high"}))
    assert (told["reason"], told["rule"]) == ("unclear", "limit")
    assert told["why"].startswith("`arguments.percent <= 30 && arguments.note >= 0` could not be worked out: ")
    assert "text" in told["why"] and "number" in told["why"]


async def test_arguments_that_do_not_fit_are_not_offered(advise: AdviseCapability) -> None:
    card = await card_of(advise, options(twenty={"percent": "twenty"}, fifth={"percent": 20}))
    assert [option.id for option in card.options] == ["fifth", "nothing"]
    fact = card.facts["not offered: twenty"]
    assert isinstance(fact, dict) and (fact["reason"], fact["source"]) == ("unfit", "till.discount")
    assert "`percent` must be a whole number" in str(fact["value"])
    stored = DecisionCard.read(card.to_json()).facts  # as the ledger keeps it: without what holds nothing
    [told] = not_offered(stored)
    assert (told["option"], told["reason"], told["use"], told["rule"]) == ("twenty", "unfit", "till.discount", None)


async def test_where_unfit_arguments_leave_no_option_the_step_fails_and_tells_every_reason(
    advise: AdviseCapability,
) -> None:
    with pytest.raises(InvalidArguments, match=r"twenty: The arguments do not fit .*; half: the rule limit") as caught:
        await advise.call({"options": options(twenty={"percent": "twenty"}, half={"percent": 50})}, context())
    assert [each["option"] for each in caught.value.facts["not_offered"]] == ["twenty", "half"]  # type: ignore[union-attr,index,call-overload]
