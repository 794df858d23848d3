from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agents.cognition.explain_capability import ExplainCapability, WordFinding
from console.texts.catalogue import LANGUAGES, say_in
from contracts import Finding, Json
from memory.metrics import MetricRegistry
from runtime.capabilities.port import CallContext
from runtime.errors import InvalidArguments, NotFound
from runtime.spoken_numbers import NumberInvented
from tests.governance.cards import order
from tests.memory.duck import Duck, cancel_rate, duck

__all__ = ["duck"]

pytestmark = pytest.mark.anyio

AT = datetime(2013, 2, 8, 22, tzinfo=UTC)
ASKED: dict[str, Json] = {"metric": "cancel-rate", "grain": "day", "by": ["carrier"]}


def context(language: str = "en") -> CallContext:
    return CallContext(order=order(known_at=AT, language=language), step="why", key="k", attempt=1, now=AT)


@pytest.fixture
def explain(duck: Duck) -> ExplainCapability:
    for day in range(1, 32):
        duck.fly(f"2013-01-{day:02} 10:00", carrier="AA", flown=49 + day % 2, cancelled=1 - day % 2)
        duck.fly(f"2013-01-{day:02} 11:00", carrier="MQ", flown=50)
        duck.fly(f"2013-01-{day:02} 12:00", carrier="UA", flown=50)
    duck.fly("2013-02-01 10:00", carrier="AA", flown=10, cancelled=40)
    duck.fly("2013-02-01 11:00", carrier="MQ", flown=50)
    duck.fly("2013-02-01 12:00", carrier="UA", flown=50)
    return ExplainCapability(MetricRegistry([cancel_rate()], duck.query, time_zone="America/New_York"), say_in)


async def test_the_finding_has_statement_statistics_and_the_hashes_of_queries_and_data(
    explain: ExplainCapability,
) -> None:
    result = await explain.call({**ASKED, "period": "2013-02-01"}, context())
    finding = Finding.model_validate(result.events[0].data["finding"])

    assert (finding.verdict, finding.confidence.value) == ("slice", "high")
    assert finding.sources == (result.data_sha256, result.query_sha256)
    assert result.output["causes"][0]["value"] == "AA"
    assert "carrier AA (80.0 %, 100 %)" in str(finding.statement)
    for each in result.output["splits"][0]["stands_out"]:
        assert {"effect", "low", "high", "n", "p_adjusted", "query_sha256", "data_sha256"} <= each.keys()
    assert set(explain.spec.gives) <= set(result.output)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("period", ["2013-01-10", "2013-01-31", "2013-02-01", "2013-02-05"])
async def test_every_language_says_only_numbers_of_the_statistics(
    explain: ExplainCapability, language: str, period: str
) -> None:
    result = await explain.call({**ASKED, "period": period}, context(language))

    assert result.output["statement"] and "{" not in str(result.output["statement"])


async def test_a_day_without_rows_is_told_as_a_gap(explain: ExplainCapability) -> None:
    result = await explain.call({**ASKED, "period": "2013-02-05"}, context())

    assert (result.output["verdict"], result.output["value"], result.output["excess"]) == ("no value", None, None)
    assert "That is a gap" in str(result.output["statement"])


async def test_a_day_whose_data_may_still_come_is_no_gap(explain: ExplainCapability) -> None:
    result = await explain.call({**ASKED, "period": "2013-02-08"}, context())

    assert (result.output["verdict"], result.output["over"]) == ("no value", False)
    assert "has not arrived yet" in str(result.output["statement"])


async def test_other_data_has_another_version(explain: ExplainCapability, duck: Duck) -> None:
    first = await explain.call({**ASKED, "period": "2013-02-01"}, context())
    duck.fly("2013-01-31 13:00", carrier="UA", flown=1)
    second = await explain.call({**ASKED, "period": "2013-02-01"}, context())

    assert first.query_sha256 == second.query_sha256
    assert first.data_sha256 != second.data_sha256


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"period": "2013-02-09"}, "begins after"),
        ({"period": "soon"}, "is no day"),
        ({"by": ["dest"]}, "no dimension dest"),
        ({"last": -1}, "from 0 to 2,000"),
        ({"thresholds": {"unusually": 1}}, "no threshold unusually"),
        ({"thresholds": {"unusual": "x"}}, "is a number"),
    ],
)
async def test_what_cannot_be_asked_is_refused(explain: ExplainCapability, changes: dict[str, Json], told: str) -> None:
    with pytest.raises(InvalidArguments, match=told):
        await explain.call({**ASKED, "period": "2013-02-01", **changes}, context())


async def test_another_metric_that_does_not_exist_is_named(explain: ExplainCapability) -> None:
    with pytest.raises(NotFound, match="no metric rain"):
        await explain.call({**ASKED, "with": ["rain"]}, context())


async def test_the_words_of_a_model_add_no_number(explain: ExplainCapability) -> None:
    finding: Json = {"value": 0.266667, "n": 150, "confidence": "high"}
    said = await WordFinding().call({"text": "26.7 % of 150 were cancelled.", "finding": finding}, context())

    assert said.output["confidence"] == "high"
    with pytest.raises(NumberInvented, match="31"):
        await WordFinding().call({"text": "About 31 % were cancelled.", "finding": finding}, context())
