from __future__ import annotations

import pytest

from runtime.search.phrases import phrases_in


@pytest.mark.parametrize(
    ("phrase", "text", "stands"),
    [
        ("cancelled flights", "Flights cancelled", False),
        ("cancelled flights", "the cancelled flight", True),
        ("取消", "航班为什么取消了", True),
        ("gate", "investigate", False),
        ("", "anything", False),
        ("Ｓtorm", "STORMS", True),
    ],
)
def test_a_phrase_stands_in_a_text_as_whole_words_whatever_their_ending(phrase: str, text: str, stands: bool) -> None:
    assert bool(phrases_in([phrase], text)) is stands


def test_one_phrase_in_two_endings_is_found_once() -> None:
    assert phrases_in(["delay", "delays"], "a delay") == ["delay"]
