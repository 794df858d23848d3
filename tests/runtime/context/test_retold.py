"""What a model repeats of a result that it was shown stands in the prompt once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.context.retold import Shown

LEAST = 200
ROWS = "".join(f"row {n:03}: flight {n * 7 % 97} to {['EWR', 'JFK', 'LGA'][n % 3]}; " for n in range(60))


def shown(text: str = ROWS) -> Shown:
    found = Shown(LEAST)
    found.show("call_1_1", text)
    return found


def test_a_repetition_is_cut_to_where_it_is_shown() -> None:
    words, names = shown().cut(f"This is what I saw:»{ROWS[30:700]}« So it is the storm.")

    assert words == "This is what I saw:»[as in call_1_1]« So it is the storm."
    assert list(names) == ["call_1_1"]


def test_two_repetitions_with_words_between_are_both_cut() -> None:
    words, _ = shown().cut(f"{ROWS[:300]} and {ROWS[500:800]}")

    assert words == "[as in call_1_1] and [as in call_1_1]"


def test_what_is_shorter_is_quoted_as_it_is() -> None:
    quoted = f"It says “{ROWS[10 : 10 + LEAST - 1]}”."

    assert shown().cut(quoted) == (quoted, ())


@given(st.integers(0, 1_500), st.integers(LEAST, 900), st.text(max_size=300), st.text(max_size=300))
def test_any_repetition_of_the_length_is_found_wherever_it_stands(
    start: int, length: int, before: str, after: str
) -> None:
    part = ROWS[start : start + length]
    words, names = shown().cut(before + part + after)

    if len(part) >= LEAST:
        assert list(names) == ["call_1_1"] and part not in words


@given(st.text(min_size=1, max_size=1_000), st.text(max_size=1_000))
def test_what_is_left_repeats_nothing_of_the_length(text: str, words: str) -> None:
    left, _ = shown(text).cut(words)

    assert not any(left[at : at + LEAST] in text for at in range(len(left) - LEAST + 1))
