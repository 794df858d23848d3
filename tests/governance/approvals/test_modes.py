"""The table of modes, on every combination: nothing loosens, and what is unknown counts as the worst."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from contracts import ApprovalMode, Confidence, Effect
from governance.approvals.modes import (
    LOOSEST,
    Held,
    Impact,
    Standing,
    Why,
    amount_of,
    can_be_undone,
    impact_of,
    mode_of,
    mode_of_option,
    policy_of,
)
from governance.approvals.rule import ApprovalRule
from tests.governance.cards import MONEY, action, option

ORDER = list(ApprovalMode)
STRICT, THRESHOLD, POST_HOC = ORDER
STANDINGS = (
    Standing(), Standing(THRESHOLD, over=STRICT), Standing(POST_HOC, over=THRESHOLD), Standing(POST_HOC, over=STRICT),
    Standing(set_back=True),
)  # fmt: skip
CASES = list(
    product(ORDER, [None, *ORDER], [True, False], Impact, [None, *Confidence], STANDINGS)
)  # fmt: skip


def held(case: tuple) -> Held:
    mode, requested, reversible, impact, confidence, standing = case
    rule = replace(MONEY, mode=mode)
    return mode_of(rule, requested, reversible=reversible, impact=impact, confidence=confidence, standing=standing)


def test_the_table_has_a_row_for_everything() -> None:
    assert set(LOOSEST) == set(product([True, False], Impact))


def test_no_case_is_looser_than_the_policy_the_request_or_the_table_allow() -> None:
    for case in CASES:
        mode, requested, reversible, impact, _, standing = case
        now = ORDER.index(held(case).mode)
        assert now <= ORDER.index(standing.loosened_to or mode)
        assert requested is None or now <= ORDER.index(requested)
        assert now <= ORDER.index(LOOSEST[reversible, impact])


@pytest.mark.parametrize(
    ("mode", "standing", "expected"),
    [
        (STRICT, Standing(THRESHOLD, over=STRICT), THRESHOLD),
        (STRICT, Standing(POST_HOC, over=STRICT), POST_HOC),
        (STRICT, Standing(POST_HOC, over=THRESHOLD), STRICT),  # somebody wrote `strict` since
        (POST_HOC, Standing(THRESHOLD, over=STRICT), THRESHOLD),  # and looser than what experience earned
    ],
)
def test_a_looser_mode_counts_over_the_mode_that_it_was_approved_over(
    mode: ApprovalMode, standing: Standing, expected: ApprovalMode
) -> None:
    assert policy_of(replace(MONEY, mode=mode), standing) is expected


def test_a_rule_that_may_not_be_loosened_holds_as_it_is_written() -> None:
    rule = replace(MONEY, mode=STRICT, may_loosen=False)
    for standing in STANDINGS:
        found = mode_of(rule, None, reversible=True, impact=Impact.UNDER, confidence=Confidence.HIGH, standing=standing)
        assert found.mode is STRICT


def test_only_a_high_confidence_passes_by_itself() -> None:
    assert {case[4] for case in CASES if held(case).mode is not STRICT} == {Confidence.HIGH}


def test_what_cannot_be_taken_back_is_never_told_afterwards_and_passes_only_under_a_limit() -> None:
    passing = [case for case in CASES if not case[2] and held(case).mode is not STRICT]
    assert {held(case).mode for case in passing} == {THRESHOLD}
    assert {case[3] for case in passing} == {Impact.UNDER}


def test_after_a_serious_error_everything_waits_for_a_person() -> None:
    set_back = [held(case) for case in CASES if case[5].set_back]
    assert set(set_back) == {Held(STRICT, Why.SERIOUS_ERROR)}


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ((THRESHOLD, None, False, Impact.UNDER, Confidence.HIGH, Standing()), Held(THRESHOLD, Why.POLICY)),
        ((THRESHOLD, None, False, Impact.OVER, Confidence.HIGH, Standing()), Held(STRICT, Why.IMPACT)),
        ((THRESHOLD, None, True, Impact.UNKNOWN, Confidence.HIGH, Standing()), Held(STRICT, Why.IMPACT)),
        ((THRESHOLD, None, True, Impact.NO_LIMIT, Confidence.HIGH, Standing()), Held(STRICT, Why.NO_LIMIT)),
        ((POST_HOC, None, True, Impact.NO_LIMIT, Confidence.HIGH, Standing()), Held(POST_HOC, Why.POLICY)),
        ((POST_HOC, None, False, Impact.UNDER, Confidence.HIGH, Standing()), Held(THRESHOLD, Why.IRREVERSIBLE)),
        ((POST_HOC, STRICT, True, Impact.UNDER, Confidence.HIGH, Standing()), Held(STRICT, Why.REQUEST)),
        ((STRICT, POST_HOC, True, Impact.UNDER, Confidence.HIGH, Standing()), Held(STRICT, Why.POLICY)),
        ((POST_HOC, None, True, Impact.UNDER, Confidence.MEDIUM, Standing()), Held(STRICT, Why.CONFIDENCE)),
        ((POST_HOC, None, True, Impact.UNDER, None, Standing()), Held(STRICT, Why.CONFIDENCE)),
        (
            (STRICT, None, True, Impact.UNDER, Confidence.HIGH, Standing(THRESHOLD, over=STRICT)),
            Held(THRESHOLD, Why.POLICY),
        ),
    ],
)
def test_each_case_says_what_decided(case: tuple, expected: Held) -> None:
    assert held(case) == expected


@pytest.mark.parametrize(
    ("impact", "amount"),
    [("arguments.flights", 472.0), ("arguments.nothing", None), ("arguments.airports", None), ("true", None),
     ("arguments.flights - 1000", None), (None, None)],
)  # fmt: skip
def test_an_impact_is_a_number_or_unknown(impact: str | None, amount: float | None) -> None:
    assert amount_of(replace(MONEY, impact=impact, under=1.0), action()) == amount


def test_an_impact_stands_under_its_limit_only_where_it_is_smaller() -> None:
    rule = replace(MONEY, impact="arguments.flights", under=473.0)
    assert impact_of(rule, action()) is Impact.UNDER
    assert impact_of(replace(rule, under=472.0), action()) is Impact.OVER
    assert impact_of(replace(rule, impact="arguments.who"), action()) is Impact.UNKNOWN
    assert impact_of(MONEY, action()) is Impact.NO_LIMIT


def test_an_option_is_as_strict_as_its_strictest_action() -> None:
    write = action(effect=Effect.WRITE)
    both = option("both", write, write).model_copy(update={"reversible": True, "undo": (write,)})
    loose, strict = replace(MONEY, mode=POST_HOC), ApprovalRule("other", ("duty-managers",))
    pair = [(write, loose, Standing()), (write, strict, Standing())]

    assert can_be_undone(both) and not can_be_undone(option("final", action()))
    assert mode_of_option(both, pair[:1], None, confidence=Confidence.HIGH).mode is POST_HOC
    assert mode_of_option(both, pair, None, confidence=Confidence.HIGH) == Held(STRICT, Why.POLICY)
    assert mode_of_option(None, [], None, confidence=Confidence.HIGH) == Held(STRICT, Why.NOTHING_TO_DO)
