"""The table of a card, checked on every pair and on any history."""

from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import Decision, DecisionCard, DecisionId, Event, EventId
from governance.approvals.card import card_sha256, fold_card, raised
from governance.approvals.life import LIFE, CardState, Move, diagram, state_after
from governance.errors import IllegalTransition
from runtime.errors import NotFound
from tests.governance.cards import NOW, card

ENDS = (CardState.DENIED, CardState.EXPIRED, CardState.WITHDRAWN, CardState.SUPERSEDED)


def event(on: DecisionCard, version: int, type_: str, **data: object) -> Event:
    return Event(
        id=EventId.new(), source="/organisation/airports/approvals", type=type_, subject=on.card_id, time=NOW,
        data=data, organisation="airports", stream_version=version, position=version,
        payload_sha256="0" * 64, chain_sha256="0" * 64,
    )  # fmt: skip


def decided(on: DecisionCard, version: int, by: str, option: str | None) -> Event:
    decision = Decision(
        decision_id=DecisionId.new(), card_id=on.card_id, card_sha256=card_sha256(on), approve=option is not None,
        option=option, by=by, at=NOW, via="cli",
    )  # fmt: skip
    return event(on, version, "card.decided", decision=decision.to_json())


@pytest.mark.parametrize(("state", "move"), list(product(CardState, Move)))
def test_a_move_that_the_table_does_not_have_is_refused(state: CardState, move: Move) -> None:
    if (state, move) in LIFE:
        assert state_after(state, move) is LIFE[state, move]
    else:
        with pytest.raises(IllegalTransition):
            state_after(state, move)


def test_only_approve_leads_to_approved() -> None:
    into = {move for (start, move), end in LIFE.items() if end is CardState.APPROVED and start is not end}
    assert into == {Move.APPROVE}


def test_what_was_not_approved_is_over() -> None:
    assert [(state, move) for state, move in LIFE if state in ENDS] == []


def test_only_what_was_approved_is_carried_out_and_only_that_is_taken_back() -> None:
    assert {start for (start, move) in LIFE if move is Move.EXECUTE} == {CardState.APPROVED, CardState.EXECUTION_FAILED}
    acted = {CardState.EXECUTED, CardState.EXECUTION_FAILED}
    assert {start for (start, move) in LIFE if move is Move.UNDO} == acted


def test_the_diagram_of_the_documentation_is_the_table() -> None:
    page = (Path(__file__).parents[3] / "docs" / "decisions-and-cards.md").read_text()
    assert diagram() in page


def test_a_card_is_passed_on_once() -> None:
    assert (CardState.ESCALATED, Move.ESCALATE) not in LIFE


def test_a_stream_without_events_is_no_card() -> None:
    with pytest.raises(NotFound):
        fold_card([])


def test_a_card_folds_to_what_was_raised() -> None:
    shown = card()
    assert fold_card([event(shown, 1, "card.raised", card=shown.to_json())]) == raised(shown)


KINDS = (
    "expired", "escalated", "withdrawn", "superseded", "reminded", "used", "executed", "execution_failed",
    "undo_requested", "undone", "reviewed",
)  # fmt: skip
MOVES = st.lists(
    st.one_of(
        st.tuples(
            st.just("decided"), st.sampled_from(["ann", "bob", "cy"]), st.sampled_from(["waive", "nothing", None])
        ),
        st.tuples(st.sampled_from(KINDS), st.just(""), st.none()),
    ),
    max_size=10,
)


@given(MOVES, st.integers(1, 3))
def test_on_any_history_a_card_is_approved_only_by_its_quorum_of_people(moves: list, quorum: int) -> None:
    shown = card(quorum=quorum)
    history = [event(shown, 1, "card.raised", card=shown.to_json())]
    for kind, by, choice in moves:
        version = len(history) + 1
        data = {"escalated": {"who": ["dana"], "deadline": (NOW + timedelta(hours=4)).isoformat()},
                "expired": {"at": NOW.isoformat()}, "withdrawn": {"reason": "r"},
                "used": {"order_id": "o", "key": "k", "action": 0}, "superseded": {"by": "card/x"},
                "undo_requested": {"by": "ann"}, "reviewed": {"by": "ann", "right": True}}.get(kind, {})  # fmt: skip
        new = (
            decided(shown, version, by, choice) if kind == "decided" else event(shown, version, f"card.{kind}", **data)
        )
        try:
            view = fold_card([*history, new])
        except IllegalTransition:
            continue
        history.append(new)
        yes = {d.by for d in view.decisions if d.option == (view.chosen.id if view.chosen else "")}
        assert view.is_approved == (len(yes) >= quorum)
        assert view.used_by == () or view.is_approved
        assert (view.outcome is None) == view.is_open
        assert (view.chosen is None) == (not view.is_approved)
        assert view.state is not CardState.UNDONE or "card.undone" in {each.type for each in history}
