from contracts import Effect, Json
from governance.policies import Policy, PolicyBook, PolicyExample, PolicyRequest, run_examples
from tests.governance.cards import effect, order

LIMIT = Policy("limit", "At most 2,000 flights.", "arguments.flights <= 2000", ("desk.waive_fees",))


def waive(flights: Json) -> PolicyRequest:
    return PolicyRequest("desk.waive_fees", {"flights": flights})


def test_a_request_that_keeps_the_rule_passes() -> None:
    assert PolicyBook([LIMIT]).violated_by(waive(472)) is None


def test_a_request_that_breaks_it_is_answered_with_the_policy_and_its_condition() -> None:
    breach = PolicyBook([LIMIT]).violated_by(waive(12_000))
    assert breach is not None
    assert breach.policy is LIMIT
    assert "arguments.flights <= 2000" in breach.why


def test_a_policy_says_nothing_outside_its_scope() -> None:
    assert PolicyBook([LIMIT]).violated_by(PolicyRequest("desk.notify", {})) is None


def test_a_scope_may_be_a_pattern_and_no_scope_covers_everything() -> None:
    assert Policy("all", "", "false", ("desk.*",)).covers("desk.notify")
    assert not Policy("all", "", "false", ("desk.*",)).covers("files.write")
    assert Policy("all", "", "false").covers("files.write")


def test_a_condition_that_cannot_be_worked_out_refuses() -> None:
    for missing in (PolicyRequest("desk.waive_fees", {}), waive("many"), waive(None)):
        breach = PolicyBook([LIMIT]).violated_by(missing)
        assert breach is not None
        assert "could not be checked" in breach.why


def test_a_condition_that_is_no_expression_refuses() -> None:
    assert PolicyBook([Policy("broken", "", "arguments.flights <=")]).violated_by(waive(1)) is not None


def test_a_condition_that_is_neither_true_nor_false_refuses() -> None:
    assert PolicyBook([Policy("odd", "", "arguments.flights")]).violated_by(waive(1)) is not None


def test_every_policy_must_let_a_request_pass() -> None:
    second = Policy("at-night", "", "facts.employee != 'intern'")
    by_intern = PolicyRequest("desk.waive_fees", {"flights": 1}, facts={"employee": "intern"})
    breach = PolicyBook([LIMIT, second]).violated_by(by_intern)
    assert breach is not None
    assert breach.policy is second


def test_the_gate_hands_over_who_acts_and_why() -> None:
    request = PolicyRequest.of(effect(order(context={"verdict": "weather"}, inputs={"day": "2013-02-08"})))
    assert request.effect is Effect.IRREVERSIBLE
    condition = "facts.context.verdict == 'weather' && facts.inputs.day.startsWith('2013') && effect == 'irreversible'"
    assert PolicyBook([Policy("p", "", condition)]).violated_by(request) is None


def test_examples_that_the_rule_answers_otherwise_are_told() -> None:
    examples = (
        PolicyExample(waive(472), allowed=True, why="a storm"),
        PolicyExample(waive(12_000), allowed=True, why="too many"),
        PolicyExample(waive(1), allowed=False, why="a waiver at night"),
        PolicyExample(PolicyRequest("desk.notify", {}), allowed=True),
    )
    faults = run_examples(Policy("limit", "", LIMIT.allow_when, LIMIT.applies_to, examples))
    assert [fault.index for fault in faults] == [1, 2, 3]
    assert 'The example "a waiver at night" should be refused but the rule lets it pass.' in faults[1].message
