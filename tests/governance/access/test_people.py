import pytest

from governance.access import People, Person, Role, Why
from governance.errors import NobodyActs
from tests.governance.cards import DANA, KIM, MORGAN, PEOPLE, ROBIN, VERA, card


def test_the_person_named_with_as_acts() -> None:
    assert People(PEOPLE).acting("morgan", "root") == MORGAN


def test_without_a_name_the_entry_of_the_system_user_acts() -> None:
    assert People(PEOPLE).acting(None, "vera") == VERA


def test_a_system_user_without_an_entry_acts_as_the_person_for_any() -> None:
    assert People(PEOPLE).acting(None, "root") == ROBIN


def test_the_own_entry_goes_before_any_in_whatever_order_they_stand() -> None:
    assert People([ROBIN, VERA]).acting(None, "vera") == VERA


def test_a_person_who_is_not_there_is_answered_with_those_who_are() -> None:
    with pytest.raises(NobodyActs, match=r"Nobody here is called mo\. .*morgan \(Morgan Lee\)"):
        People(PEOPLE).acting("mo", "root")


def test_a_system_user_without_any_entry_is_told_how_to_get_one() -> None:
    with pytest.raises(NobodyActs, match=r"`as` \(--as NAME\), or give a person `login: root`"):
        People([MORGAN]).acting(None, "root")


def test_any_is_no_name_to_act_under() -> None:
    with pytest.raises(NobodyActs):
        People(PEOPLE).acting("any", "root")


def test_a_group_stands_for_its_members_and_an_id_for_one_person() -> None:
    people = People(PEOPLE)
    assert [person.id for person in people.members("directors")] == ["dana"]
    assert people.members("dana") == [DANA]
    assert people.members("nobody") == []


@pytest.mark.parametrize(
    ("person", "why"),
    [
        (MORGAN, None),
        (ROBIN, Why.REQUESTER),
        (KIM, Why.DEPUTY),
        (VERA, Why.ROLE),
        (DANA, Why.NOT_NAMED),
        (Person("eve", "Eve", frozenset({Role.APPROVER, Role.ADMIN}), frozenset({"duty-managers"})), Why.NOT_A_MEMBER),
    ],
)
def test_only_a_named_approver_who_did_not_ask_may_decide(person: Person, why: Why | None) -> None:
    refusal = People(PEOPLE).may_decide(person, card())
    assert (refusal.why if refusal else None) == why


def test_somebody_removed_from_the_group_after_the_card_was_sent_may_not_decide() -> None:
    now = People([Person("morgan", "Morgan Lee", frozenset({Role.APPROVER}), frozenset())])
    refusal = now.may_decide(MORGAN, card())
    assert refusal is not None
    assert refusal.why is Why.NOT_NAMED


def test_a_role_taken_away_counts_at_once() -> None:
    now = People([Person("morgan", "Morgan Lee", frozenset({Role.VIEWER}), frozenset({"duty-managers"}))])
    refusal = now.may_decide(MORGAN, card())
    assert refusal is not None
    assert refusal.why is Why.ROLE


def test_an_admin_decides_only_where_named() -> None:
    assert People(PEOPLE).may_decide(DANA, card(who=("dana",))) is None


def test_the_audience_that_holds_now_decides_not_that_of_the_card() -> None:
    people = People(PEOPLE)
    assert people.may_decide(DANA, card(), ["directors"]) is None
    assert people.may_decide(MORGAN, card(), ["directors"]) is not None
