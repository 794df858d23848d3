from __future__ import annotations

from collections.abc import Sequence

import pytest

from contracts import Effect
from governance.policies import Policy, StandingPolicies
from runtime.capabilities.port import CapabilitySpec
from runtime.errors import NotFound, OrganisationFaulty
from tests.governance.cards import ARGUMENTS, WAIVE, order

FEW = Policy("few", {"en": "At most 400.", "zh": "最多四百。"}, "arguments.flights <= 400", ("desk.*",))
MANY = Policy("few", "At most 4,000.", "arguments.flights <= 4000", ("desk.*",))
READ = CapabilitySpec("desk.read", "service_tool", "Reads.", {}, {}, effect=Effect.READ)


def gone() -> Sequence[Policy]:
    raise NotFound("no folder")


def faulty() -> Sequence[Policy]:
    raise OrganisationFaulty("no rule can be read")


@pytest.mark.parametrize(("pinned", "now"), [((FEW,), (MANY,)), ((MANY,), (FEW,)), ((), (FEW,)), ((FEW,), ())])
def test_the_stricter_of_what_was_pinned_and_what_stands_there_now_counts(
    pinned: tuple[Policy, ...], now: tuple[Policy, ...]
) -> None:
    refused = StandingPolicies(pinned, lambda: now).refusal(order(), WAIVE, ARGUMENTS)
    assert refused is not None
    assert refused.facts["rule_version"] == FEW.version


def test_without_the_folder_the_pinned_ones_hold() -> None:
    assert StandingPolicies((FEW,), gone).refusal(order(), WAIVE, ARGUMENTS) is not None
    assert StandingPolicies((MANY,), gone).refusal(order(), WAIVE, ARGUMENTS) is None


def test_while_a_rule_cannot_be_read_nothing_is_changed_and_reads_go_on_by_the_pinned_ones() -> None:
    standing = StandingPolicies((FEW,), faulty)
    with pytest.raises(OrganisationFaulty) as told:
        standing.refusal(order(), WAIVE, ARGUMENTS)
    assert told.value.facts["happened"] == "no"
    assert standing.refusal(order(), READ, {"flights": 1}) is None
    assert standing.refusal(order(), READ, {"flights": 500}) is not None


def test_the_refusal_is_told_in_the_language_of_the_order() -> None:
    refused = StandingPolicies((FEW,), gone).refusal(order(language="zh"), WAIVE, ARGUMENTS)
    assert refused is not None and "最多四百" in refused.reason


def test_a_rule_that_names_nothing_covers_what_changes_something_and_one_that_names_covers_reads_too() -> None:
    every = Policy("all", "", "false")
    assert [every.covers("desk.x", effect) for effect in Effect] == [False, True, True, True]
    assert all(Policy("all", "", "false", ("desk.*",)).covers("desk.x", effect) for effect in Effect)
    reads = Policy("reads", "", "false", effects=(Effect.READ,))
    assert [reads.covers("desk.x", effect) for effect in Effect] == [True, False, False, False]


def test_a_rule_that_is_only_told_refuses_nothing() -> None:
    assert StandingPolicies((Policy("polite", "Be polite."),), gone).refusal(order(), WAIVE, ARGUMENTS) is None


def test_any_other_word_is_another_version() -> None:
    versions = {FEW.version, MANY.version, Policy("few", "At most 400.", "arguments.flights <= 400").version}
    assert len(versions) == 3
