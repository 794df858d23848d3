from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.errors import AnchorUnknown
from runtime.context.reading.anchors import Anchor, line_text, path_text, read_anchor, read_path, value_at

PATHS = st.lists(st.text(max_size=20) | st.integers(0, 10**6), max_size=6).map(tuple)


@given(PATHS)
def test_an_address_leads_back_to_its_path(path: tuple[str | int, ...]) -> None:
    assert read_path(path_text(path)) == path


@given(st.integers(1, 10**9), st.none() | st.integers(1, 10**9))
def test_the_address_of_a_line_leads_back_to_it(line: int, column: int | None) -> None:
    assert read_anchor(line_text(None, line, column)) == Anchor(None, line, column)
    assert read_anchor(line_text(("body", 3), line, column)) == Anchor(("body", 3), line, column)


@given(st.text(max_size=100))
def test_any_text_is_an_address_or_none(text: str) -> None:
    read_anchor(text)


@pytest.mark.parametrize(
    "text", ["", "rows[3]", "$.", "$[x]", "$[01]", "L0", "L", "$.rows[*]", '$["open', " " * 10_000]
)
def test_what_is_no_address_is_taken_for_none(text: str) -> None:
    assert read_anchor(text) is None


def test_what_is_not_there_is_refused_with_what_is() -> None:
    with pytest.raises(AnchorUnknown, match=r"There is no \$\.rows\[7\].*\$\.rows is an array of 2 items"):
        value_at({"rows": [1, 2]}, ("rows", 7))
