from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.search import tokens
from runtime.search.tokens import unspaced_share


def test_english_words_lose_their_endings_and_the_commonest_are_left_out() -> None:
    assert tokens("Why were the Flights cancelled?") == ["flight", "cancel"]
    assert tokens("cancellations, cancelling") == ["cancel", "cancel"]


def test_chinese_gives_pairs_of_neighbouring_characters() -> None:
    assert tokens("航班取消") == ["航班", "班取", "取消"]


def test_particles_part_chinese_and_a_lone_character_stays() -> None:
    assert tokens("我的航班呢") == ["航班"]
    assert tokens("查 账") == ["查", "账"]


def test_both_languages_and_numbers_stand_in_one_text() -> None:
    assert tokens("A380航班 delays_2013") == ["a380", "航班", "delay", "2013"]


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
