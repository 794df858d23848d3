from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.cognition.reason import Verdict
from agents.cognition.reason_capability import AttributeCapability
from console.texts.catalogue import LANGUAGES, say_in
from contracts import Finding, Json
from runtime.capabilities.port import CallContext, Origin
from runtime.errors import InvalidArguments
from tests.governance.cards import order

pytestmark = pytest.mark.anyio


def arguments(**changes: Any) -> dict[str, Json]:
    def cell(origin: str, condition: str, n: int, hits: int) -> Json:
        return {"origin": origin, "carrier": "AA", "hour": 10, "condition": condition, "n": n, "hits": hits}

    values: dict[str, Json] = {
        "rows": [cell("EWR", "present", 300, 200), cell("JFK", "absent", 300, 3)],
        "history": {"periods": 38, "usual_rate": 0.01},
        "usual_odds": [{"dimension": "carrier", "value": "AA", "usual_odds": 1.5, "periods": 30}],
        "slices": {"carrier": ["origin", "hour"]},
        "site": "origin",
        "words": {"condition": "weather"},
        "names": {"unit": "flights", "hit": {"en": "cancelled", "zh": "取消"}, "condition": {"en": "bad weather"}},
    }
    return {**values, **changes}


def context() -> CallContext:
    origins = {"rows": Origin("analyst/cells", "rows", "a" * 64, "b" * 64, "c" * 64)}
    return CallContext(order=order(), step="attribute", key="k", attempt=1, now=datetime.now(UTC), origins=origins)


@pytest.fixture
def attribute() -> AttributeCapability:
    return AttributeCapability(say_in)


async def test_the_verdict_comes_in_the_skills_own_word_with_its_numbers(attribute: AttributeCapability) -> None:
    output = (await attribute.call(arguments(), context())).output
    assert (output["verdict"], output["n"], output["hits"]) == ("weather", 600, 203)
    assert output["statement"] == (
        "Cause: bad weather. 203 of 600 flights cancelled (33.8 %, usually 1.0 %), 197 more than usual; "
        "100 % of these lie under it, at EWR."
    )
    assert output["rate"] == pytest.approx(203 / 600)
    assert output["condition"]["holds"] is True
    assert set(attribute.spec.gives) <= set(output)


async def test_the_finding_is_told_with_statistics_and_sources(attribute: AttributeCapability) -> None:
    result = await attribute.call(arguments(), context())
    [event] = result.events
    finding = Finding.model_validate(event.data["finding"])
    assert (event.type, finding.verdict, finding.sources) == ("finding.made", "weather", ("c" * 64,))
    assert (finding.confidence, finding.statistics["hits"]) == (result.output["confidence"], 203)


async def test_too_few_units_are_inconclusive(attribute: AttributeCapability) -> None:
    output = (await attribute.call(arguments(rows=[]), context())).output
    assert (output["verdict"], output["rate"], output["confidence"]) == ("inconclusive", None, "low")


async def test_a_number_of_the_rule_may_be_set_and_an_unknown_one_is_refused(attribute: AttributeCapability) -> None:
    output = (await attribute.call(arguments(thresholds={"min_units": 10_000}), context())).output
    assert output["verdict"] == "inconclusive"
    with pytest.raises(InvalidArguments, match=r"no threshold min_unit; there is: alpha"):
        await attribute.call(arguments(thresholds={"min_unit": 1}), context())


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": [{"n": 40, "hits": 1}]},
        {"rows": [{"n": "many", "hits": 1, "origin": "EWR", "carrier": "AA", "hour": 1, "condition": "absent"}]},
        {"history": {"periods": "x", "usual_rate": 0.1}},
        {"slices": {"carrier": None}},
    ],
)
async def test_counts_that_cannot_be_used_are_refused_in_words(
    attribute: AttributeCapability, changes: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArguments):
        await attribute.call(arguments(**changes), context())


SHAPES: dict[Verdict, dict[str, Any]] = {
    Verdict.CONDITION: {},
    Verdict.SLICE: {"rows": [
        {"origin": "EWR", "carrier": c, "hour": h, "condition": "absent", "n": 40, "hits": x}
        for h in range(8, 14) for c, x in (("AA", 15), ("UA", 0), ("DL", 1))
    ]},
    Verdict.NOT_EXPLAINED: {"rows": [
        {"origin": "EWR", "carrier": c, "hour": 9, "condition": "absent", "n": 100, "hits": 30} for c in ("AA", "UA")
    ]},
    Verdict.NOTHING_UNUSUAL: {"rows": [
        {"origin": "EWR", "carrier": "AA", "hour": 9, "condition": "absent", "n": 300, "hits": 2}
    ]},
    Verdict.INCONCLUSIVE: {"rows": []},
}  # fmt: skip


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_verdict_has_its_sentence_in_the_catalogue(verdict: Verdict, language: str) -> None:
    about = replace(context(), order=order(language=language))
    output = (await AttributeCapability(say_in).call(arguments(words=None, **SHAPES[verdict]), about)).output
    assert output["verdict"] == verdict.value
    assert output["statement"]


async def test_a_label_cannot_be_had_for_less_by_other_thresholds(attribute: AttributeCapability) -> None:
    easy: Json = {"strong_share": 0.0, "strong_effect": 0.0, "strong_alpha": 1.0, "contrast_effect": 0.0, "flood": 0.0}
    rows = [
        {**cell, "hits": hits}
        for cell, hits in zip(arguments()["rows"], (120, 60), strict=True)  # type: ignore[arg-type,dict-item]
    ]
    given = arguments(rows=rows)
    usual = (await attribute.call(given, context())).output
    eased = (await attribute.call({**given, "thresholds": easy}, context())).output
    assert (usual["verdict"], usual["confidence"], eased["confidence"]) == ("weather", "medium", "medium")
