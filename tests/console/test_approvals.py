"""`approvals`: what a person sees before deciding, what is written, and what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.cognition.advise import options
from console.cli.render import card
from console.views import CardStanding, CardState
from contracts import CardKind, Decision, DecisionId, OrderState, Outcome
from governance.errors import NotAllowedToDecide
from tests.console.conftest import Silicon
from tests.fakes.console_values import CARD, EXECUTION, a_card, outcome, standing


def test_a_list_without_cards_says_so(silicon: Silicon) -> None:
    silicon.application.open_cards = ()

    data = silicon("approvals", "list", "--json").json

    assert data["cards"] == []
    assert len(data["questions"]) == 1


def test_a_card_shows_impact_facts_and_five_lines_for_each_option(silicon: Silicon) -> None:
    silicon("approvals", "show", "0CRD")

    lines = silicon.out.splitlines()
    assert "  Impact       472 of 930 flights are cancelled." in lines
    assert "  cancel rate  0.5075  (analyst/measure)" in lines
    for label in ("Benefit", "Risk", "Cost", "Undo", "Confidence"):
        assert sum(line.startswith(f"    {label} ") for line in lines) == 2
    assert any(line.endswith("notifier → desk.waive_fees(flights: 472, airports: [EWR, JFK])") for line in lines)


def test_a_mode_that_the_rule_alone_did_not_decide_is_told_with_its_reason(silicon: Silicon) -> None:
    for why, shown in (("policy", "strict"), ("confidence", "strict (the finding is not surely true)")):
        card = a_card().model_copy(update={"mode_why": why})
        silicon.application.open_cards = (standing(card=card),)
        line = next(line for line in silicon("approvals", "show", "0CRD").out.splitlines() if " Rule " in line)
        assert line.endswith(f" · {shown}")


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (CardKind.EFFECT, ["  Impact       Sets a discount.", "               The order: Cut the price"]),
        (CardKind.IN_DOUBT, ["  Impact       Sets a discount.", "               The order: Cut the price"]),
        (CardKind.CHOICE, ["  Impact       Sets a discount.⏎The order: Cut the price"]),
    ],
)
def test_only_an_impact_that_the_gate_wrote_has_lines_of_its_own(
    silicon: Silicon, kind: CardKind, shown: list[str]
) -> None:
    card = a_card().model_copy(update={"kind": kind, "impact": "Sets a discount.\nThe order: Cut the price"})
    silicon.application.open_cards = (standing(card=card),)

    silicon("approvals", "show", "0CRD")

    lines = silicon.out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  Impact"))
    assert lines[first : first + len(shown)] == shown


@pytest.mark.parametrize(
    ("kind", "shown"), [(CardKind.CHOICE, ["not assessed", "high confidence"]), (CardKind.EFFECT, [])]
)
def test_a_confidence_that_nobody_worked_out_is_not_told_as_a_low_one(
    silicon: Silicon, kind: CardKind, shown: list[str]
) -> None:
    first, second = a_card().options
    options = (first.model_copy(update={"confidence": None}), second)
    card = a_card().model_copy(update={"kind": kind, "options": options})
    silicon.application.open_cards = (standing(card=card),)

    lines = silicon("approvals", "show", "0CRD").out.splitlines()

    assert [line[14:].strip() for line in lines if line.startswith("    Confidence")] == shown
    assert silicon("approvals", "show", "0CRD", "--json").json["options"][0]["confidence"] is None


def test_deciding_says_what_will_happen_then_writes_then_carries_out(silicon: Silicon) -> None:
    silicon.application.outcome = outcome(state=OrderState.DONE, cards=())

    silicon("approvals", "decide", CARD, "waive", "--reason", "a storm", "--as", "night-manager")

    assert silicon.code == 0
    assert [name for name, _ in silicon.application.asked] == ["open", "decide", "go_on", "close"]
    assert silicon.application.asked[1] == ("decide", ("waive", "a storm", "night-manager"))
    assert silicon.err.splitlines()[:4] == [
        "◆ What is done for the passengers?",
        "  Approve waive: Waive rebooking fees",
        "  This happens: notifier → desk.waive_fees(flights: 472, airports: [EWR, JFK])",
        "  It cannot be taken back.",
    ]
    assert silicon.out.startswith("✓ done")


def test_deny_is_a_no_to_all_options(silicon: Silicon) -> None:
    silicon.application.after_decision = standing(state=CardState.CLOSED, outcome=Outcome.DENIED, deadline=None)
    silicon.application.outcome = outcome(state=OrderState.DONE, cards=())

    data = silicon("approvals", "decide", CARD, "deny", "--json").json

    assert silicon.application.asked[1] == ("decide", (None, "", None))
    assert (data["card"]["outcome"], data["execution"]["state"]) == ("denied", "done")


def test_an_option_that_is_not_there_lists_those_that_are(silicon: Silicon) -> None:
    silicon("approvals", "decide", CARD, "wave")

    assert silicon.code == 2
    assert "Choose one of waive, nothing, deny." in silicon.err
    assert "decide" not in [name for name, _ in silicon.application.asked]


def test_a_card_decided_before_stays_as_it_was(silicon: Silicon) -> None:
    silicon.application.open_cards = (standing(state=CardState.CLOSED, outcome=Outcome.APPROVED, option="waive"),)

    silicon("approvals", "decide", CARD, "nothing")

    assert silicon.code == 1
    assert "approved by duty-manager before" in silicon.err
    assert "go_on" not in [name for name, _ in silicon.application.asked]


def test_one_yes_of_two_waits_for_the_other(silicon: Silicon) -> None:
    silicon.application.after_decision = standing()

    silicon("approvals", "decide", CARD, "waive")

    assert silicon.code == 3
    assert "1 of 1" in silicon.out
    assert "go_on" not in [name for name, _ in silicon.application.asked]


def test_ctrl_c_while_the_follow_up_runs_names_the_execution(silicon: Silicon) -> None:
    silicon.application.raises = KeyboardInterrupt()

    silicon("approvals", "decide", CARD, "waive")

    assert f"silicon resume {EXECUTION}" in silicon.err


def test_nothing_is_announced_to_somebody_who_may_not_decide(silicon: Silicon) -> None:
    silicon.application.refusal = NotAllowedToDecide(
        "Dana asked for this execution; whoever asks cannot approve.",
        card=str(CARD), person="duty-planner", why="requester",
    )  # fmt: skip

    silicon("approvals", "decide", CARD, "waive", "--as", "duty-planner")

    assert silicon.code == 1
    assert silicon.err.splitlines() == [
        "✗ Dana asked for this execution; whoever asks cannot approve.",
        "  NOT_ALLOWED_TO_DECIDE",
    ]
    assert "decide" not in [name for name, _ in silicon.application.asked]


def test_the_word_for_a_no_is_the_one_that_options_may_not_use() -> None:
    assert card.DENY == options.DENY


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"outcome": Outcome.EXPIRED}, "expired: nobody decided in time, nothing was carried out"),
        ({"outcome": Outcome.WITHDRAWN}, "withdrawn before it was decided"),
        ({"outcome": Outcome.APPROVED, "option": "waive"}, "approved by : waive"),
        ({"outcome": Outcome.DENIED}, "denied by : none of the options"),
    ],
)
def test_a_finished_execution_tells_what_became_of_its_cards(
    silicon: Silicon, changes: dict[str, Any], words: str
) -> None:
    closed = standing(state=CardState.CLOSED, deadline=None, **changes)
    silicon.application.outcome = outcome(state=OrderState.DONE, cards=(), decided=(closed,))

    assert f"    {words}" in silicon("resume", "0XEC").out.splitlines()
    assert silicon("resume", "0XEC", "--json").json["decided"][0]["outcome"] == changes["outcome"].value


def doubt(**changes: Any) -> CardStanding:
    """A card that asks whether an effect happened which gives an id."""
    happened = a_card().options[0].model_copy(update={"id": "happened", "actions": ()})
    options = (happened, a_card().options[1])
    card = a_card().model_copy(update={"kind": CardKind.IN_DOUBT, "options": options, "gives": {"id": "string"}})
    return standing(card=card, **changes)


def test_a_card_in_doubt_says_that_what_the_effect_gave_can_be_told(silicon: Silicon) -> None:
    silicon.application.open_cards = (doubt(),)

    assert "Who knows what it gave (id) adds --output FILE to happened" in silicon("approvals", "list").out
    assert silicon("approvals", "show", "0CRD", "--json").json["gives"] == {"id": "string"}


def test_what_an_effect_gave_is_read_from_a_file_and_without_one_it_is_said_what_follows(
    silicon: Silicon, tmp_path: Path
) -> None:
    silicon.application.open_cards = (doubt(),)
    file = tmp_path / "gave.json"
    file.write_text('{"id": "W-7 ü"}')

    silicon("approvals", "decide", CARD, "happened", "--output", str(file))
    assert silicon.application.asked[1] == ("decide", ("happened", "", None, {"id": "W-7 ü"}))
    silicon("approvals", "decide", CARD, "happened")
    assert "Only that it was done is recorded. Steps that read id will fail" in silicon.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file"),
        (b"[1]", "must hold a JSON object"),
        (b"{", "holds no JSON that can be used"),
        (b'{"a": NaN}', "NaN is no value of JSON"),
        (b'{"a": 1, "a": 2}', "stands twice"),
        (b"\xff\xfe\x00", "holds no JSON that can be used"),
        (b" " * 300_000, "is larger than 256 KiB"),
    ],
)
def test_a_file_that_holds_no_object_is_refused_before_anything_is_decided(
    silicon: Silicon, tmp_path: Path, content: bytes | None, said: str
) -> None:
    silicon.application.open_cards = (doubt(),)
    file = tmp_path / "gave.json"
    if content is not None:
        file.write_bytes(content)

    silicon("approvals", "decide", CARD, "happened", "--output", str(file))
    assert silicon.code != 0
    assert said in silicon.err
    assert "decide" not in [name for name, _ in silicon.application.asked]


def test_what_a_person_told_is_shown_with_their_decision(silicon: Silicon) -> None:
    told = a_decision().model_copy(update={"option": "happened", "output": {"id": "W-7"}})
    silicon.application.open_cards = (doubt(state=CardState.CLOSED, outcome=Outcome.APPROVED, decisions=(told,)),)

    assert 'what it gave: {"id": "W-7"}' in silicon("approvals", "show", "0CRD").out


def a_decision() -> Decision:
    return Decision(
        decision_id=DecisionId.new(), card_id=a_card().card_id, card_sha256="a" * 64, approve=True, option="waive",
        by="sam", at=a_card().raised_at, via="cli",
    )  # fmt: skip


def test_messages_show_who_was_told_what_and_by_whom_without_control_signs(silicon: Silicon) -> None:
    shown = silicon("approvals", "messages", "--to", "morgan")

    assert "rise." in shown.out and "\x1b" not in shown.out
    assert "morgan · analyst/tell · " in shown.out
    assert ("notifications", "morgan") in silicon.application.asked


def test_where_nobody_was_told_anything_it_says_so(silicon: Silicon) -> None:
    assert "Nobody was told anything." in silicon("approvals", "messages", "--to", "dana").out
    assert silicon("approvals", "messages", "--to", "dana", "--json").json == {"messages": []}
