"""The hand-over document tells what the ledger knows, and its checker finds whatever does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from runtime.canonical import sha256
from runtime.context.handing_over import Detail, facts_for, handed_over
from runtime.context.handover import Abandoned, Facts, HandOver, OpenPoint, Replaced, StoredRef
from runtime.context.handover_faults import faults_of
from runtime.settings import ContextSettings
from tests.fakes.conversations import REQUEST, RULE, Conversation, said

SETTINGS = ContextSettings()
STORED = StoredRef(ref=sha256("rows"), about="rows of the storm", length=40_000)
OPEN = (
    OpenPoint(id="question/01", kind="question", text="Which runway was closed?"),
    OpenPoint(id="card/02", kind="blocker", text="The mail waits for an approval."),
)
WAY = Abandoned(way="ask the tower", why="nobody answers at night", evidence="weather:-:9:1")


def conversation() -> Conversation:
    found = Conversation()
    found.turn("12 flights: EWR-204 was 95 minutes late", "F-call_1_2", phase="look", words="First the delays.")
    found.messages.append(said("Mind the storm of 2013-02-08."))
    found.turn("F-call_2_1, sent", phase="send", effect=True)
    found.turn("F-call_3_1 " + "unreadable " * 60, phase="send", readable=False, words="I think " * 600)
    return found


def facts(**more: Any) -> Facts:
    found = conversation()
    told = found.facts(open=OPEN, abandoned=(WAY,), stored=(STORED,), needed=("EWR-204", "2013-02-08"), **more)
    return facts_for(found.prompt, told, len(found.messages))


def test_a_document_by_code_has_no_fault_in_any_detail() -> None:
    for detail in Detail:
        assert faults_of(handed_over(facts(), SETTINGS, detail=detail), facts(), SETTINGS) == ()


def test_it_tells_request_deeds_ways_open_points_and_references() -> None:
    document = handed_over(facts(), SETTINGS)

    assert document.request == REQUEST
    assert [(phase.name, len(phase.done)) for phase in document.phases] == [("look", 2), ("send", 2)]
    assert document.phases[0].told == ("Mind the storm of 2013-02-08.",)
    assert [done.effect for done in document.phases[1].done] == [True, False]
    assert (document.open, document.stored, document.abandoned) == (OPEN, (STORED,), (WAY,))
    assert "EWR-204" in document.entities["ids"]


def test_its_form_is_fixed_and_it_comes_back_from_json_as_it_was() -> None:
    document = handed_over(facts(), SETTINGS)

    assert HandOver.model_validate_json(document.model_dump_json()) == document
    with pytest.raises(ValidationError):
        HandOver.model_validate({**document.model_dump(), "mood": "good"})
    with pytest.raises(ValidationError):
        document.request = "another"  # type: ignore[misc]


def test_a_call_that_failed_is_a_way_that_was_abandoned_and_never_done() -> None:
    given = facts()
    deeds = (replace(given.deeds[0], failed="The table is locked."), *given.deeds[1:])
    document = handed_over(replace(given, deeds=deeds), SETTINGS)

    assert document.abandoned[-1].why == "The table is locked."
    assert given.deeds[0].evidence not in {done.evidence for phase in document.phases for done in phase.done}


def test_results_that_are_still_shown_are_not_told_a_second_time() -> None:
    found = conversation()
    shown = facts_for(found.prompt, found.facts(), 5)

    assert [deed.call for deed in shown.deeds] == ["call_1_1", "call_1_2"]
    assert [each.said.role for each in shown.replaced] == ["assistant", "tool", "tool"]


def test_a_result_that_can_be_read_again_is_told_by_its_beginning_and_others_whole() -> None:
    look, send = handed_over(facts(), ContextSettings(gave_chars=20), detail=Detail.PLAIN).phases

    assert look.done[0].gave == "12 flights: EWR-204…" and look.done[0].ref is not None
    assert send.done[1].gave == "F-call_3_1 " + "unreadable " * 60


def changed(**update: Any) -> Callable[[HandOver], HandOver]:
    return lambda document: document.model_copy(update=update)


def in_phase(at: int, **update: Any) -> Callable[[HandOver], HandOver]:
    def change(document: HandOver) -> HandOver:
        phases = list(document.phases)
        phases[at] = phases[at].model_copy(update=update)
        return document.model_copy(update={"phases": tuple(phases)})

    return change


def in_deed(**update: Any) -> Callable[[HandOver], HandOver]:
    def change(document: HandOver) -> HandOver:
        first, *others = document.phases[1].done
        return in_phase(1, done=(first.model_copy(update=update), *others))(document)

    return change


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (changed(request="Find out why."), "word by word"),
        (changed(open=OPEN[:1]), "card/02 is open, and is not told"),
        (changed(open=(*OPEN, OPEN[0].model_copy(update={"id": "question/9"}))), "question/9 is told as open"),
        (changed(open=(OPEN[0].model_copy(update={"text": "Anything?"}), OPEN[1])), "question/01 is open"),
        (changed(abandoned=()), "'ask the tower' is missing"),
        (changed(stored=()), f"rows of the storm ({STORED.ref}) is missing"),
        (changed(stored=(STORED, STORED.model_copy(update={"ref": sha256("no")}))), "Nothing can be read"),
        (changed(phases=()), "was done, and is not told"),
        (in_deed(evidence="weather:-:7:7"), "no evidence 'weather:-:7:7' exists"),
        (in_deed(effect=False), "not told as it was"),
        (in_deed(ref=None), "not told as it was"),
        (in_deed(values=(), gave=""), "'F-call_2_1' of weather:-:call_2_1 is lost"),
        (in_phase(0, words="EWR-205 was late."), "'EWR-205'"),
        (in_phase(0, told=()), "'2013-02-08' is needed later"),
        (in_phase(1, done=(), excerpts=()), "less than 30%"),
    ],
)
def test_the_checker_finds_whatever_is_missing_invented_or_not_as_it_was(
    change: Callable[[HandOver], HandOver], fault: str
) -> None:
    document = handed_over(facts(), SETTINGS).model_copy(update={"entities": {}})

    assert any(fault in found for found in faults_of(change(document), facts(), SETTINGS))


def test_what_failed_may_not_be_told_as_done() -> None:
    document, given = handed_over(facts(), SETTINGS), facts()
    failed = replace(given, deeds=(replace(given.deeds[0], failed="It timed out."), *given.deeds[1:]))

    assert any("and it failed: It timed out." in fault for fault in faults_of(document, failed, SETTINGS))


def test_no_document_may_stand_for_what_is_pinned() -> None:
    given = facts()
    with_rule = replace(given, replaced=(*given.replaced, Replaced("look", conversation().messages[0])))

    faults = faults_of(handed_over(with_rule, SETTINGS), with_rule, SETTINGS)
    assert any("the platform (rules) is pinned" in fault for fault in faults)
    assert RULE not in handed_over(given, SETTINGS).text()


def test_messages_whose_originals_can_be_read_again_may_become_shorter_than_their_share() -> None:
    found = conversation()
    told = found.facts(originals={"answer 3": sha256("answer 3")})
    before = handed_over(facts_for(found.prompt, found.facts(), 99), SETTINGS)
    after = handed_over(facts_for(found.prompt, told, 99), SETTINGS)

    assert any(each.startswith("I think I think") for each in before.phases[1].excerpts)
    assert after.phases[1].excerpts == () and after.phases[1].originals == (sha256("answer 3"),)


def test_a_needed_value_is_kept_though_nothing_else_tells_it_whatever_characters_it_has() -> None:
    found = Conversation()
    found.turn('seen as "C:\\temp" there', words=f'the folder is C:\\temp "x" {"and on " * 300}')
    given = facts_for(found.prompt, found.facts(needed=("C:\\temp",)), 99)
    document = handed_over(given, SETTINGS, detail=Detail.BARE)

    assert "C:\\temp" in document.values()
    assert faults_of(document, given, SETTINGS) == ()


TEXTS = st.text(alphabet='ab12- \n"\\九…', max_size=300)


@given(
    st.lists(st.tuples(st.lists(TEXTS, max_size=4), TEXTS, TEXTS, st.booleans(), st.sampled_from("xyz")), max_size=6),
    st.integers(0, 40),
    st.sampled_from(Detail),
)
def test_over_any_history_and_at_any_cut_the_document_by_code_has_no_fault(
    turns: list[tuple[list[str], str, str, bool, str]], until: int, detail: Detail
) -> None:
    found = Conversation()
    for gave, words, note, readable, phase in turns:
        unlike = [f"{found.turns}-{number} {text}" for number, text in enumerate(gave)]
        named = [f"F-call_{found.turns + 1}_{number + 1} {text}" for number, text in enumerate(unlike)]
        found.turn(*named, words=words, readable=readable, phase=phase)
        found.messages.append(said(note))
    told = found.facts(open=OPEN, needed=("a1", "12", "九"))
    mine = facts_for(found.prompt, told, until)

    assert faults_of(handed_over(mine, SETTINGS, detail=detail), mine, SETTINGS) == ()
