"""`silicon doctor` tells tools that models call wrongly and guards that hardly ever fire, where it has enough."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from console.doctor_corrections import corrections_of
from console.views_system import Examined, Health
from runtime.corrections import Guard, Occasion, Series, Tallied
from runtime.settings import DoctorSettings

MONTH = datetime(2026, 10, 1, tzinfo=UTC)


def tallied(*counts: tuple[str, str, int], organisation: str = "acme", model: str = "small") -> dict[Series, int]:
    return {Series(str(what), organisation, model, tool): count for what, tool, count in counts}


def examined(counts: dict[Series, int], organisation: str | None = "acme", **settings: Any) -> dict[str, Examined]:
    found = corrections_of(Tallied({}, counts, MONTH), DoctorSettings(**settings), organisation=organisation)
    return {each.name: each for each in found}


def test_the_tool_with_most_wrong_calls_comes_first_with_its_rate() -> None:
    counts = tallied(
        (Occasion.CALLS, "look", 3), (Guard.ARGUMENTS_INVALID, "look", 2), (Occasion.CALLS, "pay", 8),
        (Guard.ARGUMENTS_INVALID, "pay", 1), (Occasion.CALLS, "", 1), (Guard.UNKNOWN_TOOL, "", 1),
    )  # fmt: skip

    tools = examined(counts)["tools"]

    assert tools.health is Health.NOTE
    assert tools.what.endswith(
        "since 2026-10-01: look 2 of 3 (66.7 %), (no such tool) 1 of 1 (100 %), pay 1 of 8 (12.5 %)"
    )
    assert tools.facts["look"] == {"wrong": 2, "calls": 3}


def test_calls_that_all_fit_are_good() -> None:
    tools = examined(tallied((Occasion.CALLS, "look", 3), (Guard.CALL_RETRIED, "look", 2)))["tools"]
    assert (tools.health, tools.facts) == (Health.GOOD, {})


def test_only_so_many_tools_are_named() -> None:
    counts = tallied(*[(Guard.ARGUMENTS_INVALID, f"tool_{number}", number) for number in range(1, 5)])
    counts |= tallied((Occasion.CALLS, "look", 1))
    assert list(examined(counts, tools_told=2)["tools"].facts) == ["tool_4", "tool_3"]


def test_a_guard_that_fired_in_less_than_its_share_is_a_candidate_to_retire_with_its_base() -> None:
    counts = tallied((Occasion.ANSWERS, "", 200), (Guard.CALLS_AS_TEXT, "", 9), (Guard.ANSWER_REFUSED, "", 10))

    told = examined(counts)["defences small"]

    assert told.health is Health.NOTE
    assert told.what.startswith("3 guards fired in under 5 % of the occasions on which they could have, since 2026-10")
    assert told.parts[-1] == "calls_as_text 9 of 200 answers (4.5 %)"
    assert "answer_refused" not in str(told.parts)
    assert told.mend == "Candidates to retire for this model."
    shares = {each["guard"]: (each["share"], each["candidate"]) for each in told.facts["defences"]}
    assert shares["calls_as_text"] == (0.045, True)
    assert shares["answer_refused"] == (0.05, False)


def test_a_guard_that_never_fired_is_one_too() -> None:
    told = examined(tallied((Occasion.ANSWERS, "", 200)))["defences small"]
    assert "usage_estimated 0 of 200 answers (0 %)" in told.parts


def test_what_metrics_tell_stands_beside_what_was_counted_lately() -> None:
    lately, ever = (tallied((Occasion.ANSWERS, "", 100 * n), (Guard.CALLS_AS_TEXT, "", 7 * n)) for n in (1, 2))
    (told,) = corrections_of(Tallied(ever, lately, MONTH), DoctorSettings(), organisation="acme")
    (text,) = [each for each in told.facts["defences"] if each["guard"] == "calls_as_text"]
    assert (text["fired"], text["occasions"], text["ever"]) == (7, 100, {"fired": 14, "occasions": 200})


def test_of_three_answers_nothing_is_said() -> None:
    told = examined(tallied((Occasion.ANSWERS, "", 3)))["defences small"]

    assert told.health is Health.GOOD
    assert told.what.startswith("too little to judge guards by: 3 occasions at most, 100 are needed")
    assert not any(each["candidate"] for each in told.facts["defences"])


def test_each_guard_needs_enough_occasions_of_its_own() -> None:
    told = examined(tallied((Occasion.ANSWERS, "", 200), (Occasion.CALLS, "look", 99)))["defences small"]
    assert told.parts and "unknown_tool" not in str(told.parts)


def test_limits_and_recoveries_are_rare_by_their_nature_and_no_candidates() -> None:
    told = examined(tallied((Occasion.STEPS, "", 200), (Occasion.REQUESTS, "", 200)))["defences small"]

    assert "Not so iteration_limit, unanswered: what holds or recovers is meant to be rare." in told.mend
    by_guard = {each["guard"]: each["candidate"] for each in told.facts["defences"]}
    assert by_guard == {"iteration_limit": False, "output_suspicious": True, "unanswered": False}


def test_answers_that_lacked_tools_count_once_however_many_tools_were_dropped() -> None:
    counts = tallied(
        (Occasion.ANSWERS, "", 100), (Guard.TOOL_DROPPED, "a", 6), (Guard.TOOL_DROPPED, "b", 6),
        (Occasion.ANSWERS_LACKING, "", 6),
    )  # fmt: skip
    (dropped,) = [
        each for each in examined(counts)["defences small"].facts["defences"] if each["guard"] == "tool_dropped"
    ]
    assert (dropped["fired"], dropped["share"]) == (6, 0.06)


def test_models_are_judged_apart_and_other_organisations_left_out() -> None:
    counts = tallied((Occasion.ANSWERS, "", 200)) | tallied((Occasion.ANSWERS, "", 100), model="large")
    counts |= tallied((Occasion.ANSWERS, "", 900), organisation="other", model="theirs")

    assert list(examined(counts)) == ["defences large", "defences small"]
    assert "defences theirs" in examined(counts, organisation=None)


def test_nothing_is_said_where_no_model_answered() -> None:
    assert examined({}) == {}
