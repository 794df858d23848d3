from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.canonical import clean, sha256, to_text
from runtime.context.inspect import INSPECT
from runtime.context.result_store import is_stored, marker, preview
from runtime.settings import ContextSettings

SETTINGS = ContextSettings()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside, max_size=30) | st.dictionaries(st.text(), inside),
    max_leaves=40,
)


@pytest.mark.parametrize(
    ("value", "length", "always", "stored"),
    [
        ({"text": "x"}, 8_000, False, False),
        ({"text": "x"}, 8_001, False, True),
        (list(range(10)), 21, False, False),
        (list(range(11)), 24, False, True),
        ({"rows": list(range(10))}, 30, False, False),
        ({"rows": list(range(11))}, 33, False, True),
        ({"ok": True}, 11, True, True),
    ],
)
def test_long_results_long_arrays_and_marked_steps_are_stored(
    value: Any, length: int, always: bool, stored: bool
) -> None:
    assert is_stored(value, length, SETTINGS, always=always) is stored


@given(JSON)
def test_a_marker_has_its_fields_and_keeps_its_bound(value: Any) -> None:
    value = clean(value)
    text = to_text({"value": value})
    made = marker(value, SETTINGS, ref=sha256({"value": value}), tool="web.fetch", length=len(text))

    assert set(made) == {"__stored", "__refId", "__toolType", "__originalLength", "__summary", "__hint"}
    assert made["__stored"] is True
    assert made["__originalLength"] == len(text)
    assert len(str(made["__summary"])) <= SETTINGS.digest_chars
    assert to_text(made)


def test_what_stands_for_a_stored_result_is_not_stored_itself() -> None:
    made = marker([{"n": n} for n in range(999)], SETTINGS, ref=sha256(b"x"), tool="sql.query", length=9_000)

    assert not is_stored(made, len(to_text(made)), SETTINGS)


def test_the_hint_names_the_cheapest_way_first_and_the_whole_last() -> None:
    hint = str(marker([], SETTINGS, ref=sha256(b"x"), tool=None, length=9_000)["__hint"])
    places = [hint.index(name) for name in ("outline", "search", "context", "get_stored_data")]

    assert places == sorted(places)
    assert all(name in hint for name in INSPECT)


def test_a_preview_is_the_plain_beginning() -> None:
    original = '{"rows":[1.10,' * 2_000

    assert preview(original, SETTINGS) == original[:12_000]
