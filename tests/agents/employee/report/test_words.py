from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.employee.report.words import escape, format_number


@pytest.mark.parametrize(
    ("value", "pattern", "words"),
    [
        (0.1234, "0.1%", "12.3 %"), (336776, ",", "336,776"), (12.25, "0.0", "12.3"), (12.345, "0.2", "12.35"),
        (-0.04, "0.0", "0.0"), (1234.5, "+,0.00", "+1,234.50"), (0.5, "%", "50 %"), (10**30, "0", "1" + "0" * 30),
    ],
)  # fmt: skip
def test_a_pattern_says_how_a_number_looks(value: float, pattern: str, words: str) -> None:
    assert format_number(value, pattern) == words


@pytest.mark.parametrize(("value", "pattern"), [(1, "abc"), (1, ""), ("1", "0"), (True, "0")])
def test_what_is_no_number_or_no_pattern_is_refused(value: object, pattern: str) -> None:
    with pytest.raises(ValueError, match="number"):
        format_number(value, pattern)


@pytest.mark.parametrize(
    ("hostile", "safe"),
    [
        ("# head", "\\# head"), ("- item", "\\- item"), ("1. item", "1\\. item"), ("a\n\n<b>", "a &lt;b&gt;"),
        ("[^1]", "\\[\\^1\\]"), ("www.evil.test", "www\\.evil.test"), ("a@b.test", "a\\@b.test"), ("B&O", "B&O"),
        ("\ue0000\ue001", "�0�"), ("-5", "-5"), ("2013-02-08", "2013-02-08"), ("not explained", "not explained"),
        ("---", "\\---"),
    ],
)  # fmt: skip
def test_markdown_in_a_text_stays_text(hostile: str, safe: str) -> None:
    assert escape(hostile) == safe


@given(st.text())
def test_an_escaped_text_is_one_line_without_tags_code_or_marks(text: str) -> None:
    safe = escape(text)
    assert len(safe.splitlines()) <= 1
    assert not set("<>`\ue000\ue001") & set(safe)
