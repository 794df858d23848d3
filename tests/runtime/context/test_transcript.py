"""A conversation is never cut between a call and its results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.parts import Part
from runtime.context.prompt import Calling, Said
from runtime.context.transcript import cut, exchanges, gone

SYSTEM = Said("system", (Part("rules", "Never invent.", "the platform", pinned=True),))
TASK = Said("user", (Part("task", "Find the storm.", "step weather", pinned=True),))


def words(text: str, role: str = "assistant", *, pinned: bool = False) -> Said:
    return Said(role, (Part("transcript", text, "answer", pinned=pinned),))  # type: ignore[arg-type]


def calling(*ids: str) -> Said:
    return Said("assistant", (), tuple(Calling(each, "sql.query", Part("transcript", "{}", "call")) for each in ids))


def result(call: str) -> Said:
    return Said("tool", (Part("transcript", "{}", f"call {call}"),), answers=call)


@st.composite
def histories(draw: st.DrawFn) -> list[Said]:
    """Conversations with parallel calls, results in any order, people speaking between, and a last answer half done."""
    said = [SYSTEM, TASK]
    turns = draw(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), max_size=14))
    for number, (calls, spoken, pinned) in enumerate(turns):
        ids = [f"call_{number}_{each}" for each in range(calls)]
        said.append(calling(*ids) if ids else words(f"answer {number}"))
        results = [result(each) for each in draw(st.permutations(ids))]
        if number == len(turns) - 1:
            results = results[: draw(st.integers(0, len(results)))]
        if spoken:
            results.insert(draw(st.integers(0, len(results))), words("A note.", "user", pinned=pinned))
        said += results
    return said


def torn(said: list[Said]) -> bool:
    """Whether a result lacks its call or a call some of its results; of an answer half done, the rest may come."""
    called = [call.id for each in said for call in each.calls]
    answered = [each.answers for each in said if each.answers]
    return sorted(called) != sorted(answered)


@given(histories(), st.integers(0, 40), st.integers(0, 8))
def test_at_every_cut_calls_and_results_stay_or_go_together(said: list[Said], keep: int, least: int) -> None:
    found = cut(said, keep=keep, least=least, go_least=2)
    went = [said[at] for at in found.go]

    assert not torn(went)
    assert set(found.go).isdisjoint(found.stay)
    assert {0, 1}.isdisjoint(found.go) and not any(part.pinned for each in went for part in each.parts)
    assert found.go == () or len(found.go) >= 2
    assert found.go == () or gone(said, found.until) == found.go


@given(histories())
def test_whatever_place_is_named_what_goes_there_is_whole(said: list[Said]) -> None:
    for until in range(len(said) + 1):
        assert not torn([said[at] for at in gone(said, until)])


@given(histories(), st.integers(0, 40), st.integers(1, 8))
def test_what_stays_is_at_most_what_is_kept_and_at_least_the_least(said: list[Said], keep: int, least: int) -> None:
    found = cut(said, keep=keep, least=least, go_least=2)
    largest = max(len(each) for each in exchanges(said))

    if found.go:
        assert least <= len(found.stay)
        assert len(found.stay) <= max(keep, least + largest - 1) or any(each.open for each in exchanges(said))


@given(histories(), st.integers(0, 30), st.integers(0, 30))
def test_messages_that_come_later_change_nothing_of_what_went(said: list[Said], keep: int, later: int) -> None:
    found = cut(said, keep=keep, least=0, go_least=1)

    assert gone([*said, *(words(f"note {each}", "user") for each in range(later))], found.until)[: len(found.go)] == (
        found.go
    )


@given(histories())
def test_the_pieces_are_the_whole_conversation_in_its_order(said: list[Said]) -> None:
    numbers = [at for each in exchanges(said) for at in range(each.start, each.stop)]

    assert numbers == list(range(len(said)))


def test_the_newest_stay_in_whole_exchanges() -> None:
    said = [SYSTEM, TASK, words("one"), calling("a", "b"), result("b"), result("a"), calling("c"), result("c")]

    assert cut(said, keep=4, least=2, go_least=2).stay == (6, 7)
    assert cut(said, keep=4, least=3, go_least=1).stay == (3, 4, 5, 6, 7)


def test_where_fewer_would_go_than_is_worth_it_none_does() -> None:
    said = [SYSTEM, TASK, words("one"), words("two"), words("three")]

    assert cut(said, keep=2, least=2, go_least=2).go == ()
    assert cut(said, keep=1, least=1, go_least=2).go == (2, 3)


def test_the_only_message_of_a_user_never_goes_even_where_nobody_pinned_it() -> None:
    said = [SYSTEM, words("Close runway 4.", "user"), *(words(f"answer {each}") for each in range(9))]

    assert 1 not in cut(said, keep=0, least=0, go_least=1).go


def test_an_answer_that_lacks_a_result_stays_with_all_that_follows() -> None:
    said = [SYSTEM, TASK, words("one"), words("two"), calling("a", "b"), result("a"), words("Wait.", "user")]

    assert cut(said, keep=0, least=0, go_least=1).stay == (4, 5, 6)


def test_a_result_of_no_call_is_refused() -> None:
    with pytest.raises(ValueError, match="call_9"):
        exchanges([SYSTEM, TASK, result("call_9")])
