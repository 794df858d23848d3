from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.search import tokens
from runtime.search.irregular import base_forms
from runtime.search.tokens import is_character, unspaced_share


def test_english_words_lose_their_endings_and_the_commonest_are_left_out() -> None:
    assert tokens("Why were the Flights cancelled?") == ["flight", "cancel"]
    assert tokens("cancellations, cancelling") == ["cancel", "cancel"]


@pytest.mark.parametrize(
    ("form", "word"), [("paid", "pay"), ("bought", "buying"), ("WRITTEN", "write"), ("children", "child")]
)
def test_a_form_that_no_ending_tells_is_its_word(form: str, word: str) -> None:
    assert tokens(form) == tokens(word)


def test_no_form_is_also_a_word_that_has_forms() -> None:
    assert len(base_forms()) > 150
    assert not base_forms().keys() & set(base_forms().values())


def test_chinese_gives_pairs_of_neighbouring_characters_and_each_character() -> None:
    assert tokens("航班取消") == ["航班", "班取", "取消", "航", "班", "取", "消"]


def test_particles_part_chinese_and_a_lone_character_stays() -> None:
    assert tokens("我的航班呢") == ["航班", "航", "班"]
    assert tokens("查 账") == ["查", "账"]
    assert [is_character(token) for token in ("航班", "航", "a", "1")] == [False, True, False, False]


def test_both_languages_and_numbers_stand_in_one_text() -> None:
    assert tokens("A380航班 delays_2013") == ["a380", "航班", "航", "班", "delay", "2013"]


def test_width_and_case_make_no_difference() -> None:
    assert tokens("ＶＡＴ Return") == tokens("vat return")


@pytest.mark.parametrize(
    ("text", "share"), [("a train", 0.0), ("火车", 1.0), ("火车 train", 2 / 3), ("", 0.0), ("?!", 0.0)]
)
def test_the_share_of_chinese_counts_a_character_as_a_word(text: str, share: float) -> None:
    assert unspaced_share(text) == pytest.approx(share)


@given(st.text())
def test_any_text_has_words_without_spaces_in_them(text: str) -> None:
    assert all(word and not any(letter.isspace() for letter in word) for word in tokens(text))
