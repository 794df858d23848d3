from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.organisation.yaml_source import read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("200_000", 200_000),
        ("010", 10),
        ("0o17", 15),
        ("0x1f", 31),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".inf", ".inf"),
        ("2013-02-08", "2013-02-08"),
        ("2013-02-08T17:00", "2013-02-08T17:00"),
        ("12:30", "12:30"),
        ("'1'", "1"),
        ("9" * 200, "9" * 200),
    ],
)
def test_values_are_read_by_the_core_schema_of_yaml_1_2(text: str, value: Any) -> None:
    assert read_yaml("f", f"a: {text}").value == {"a": value}


def test_every_value_has_its_line() -> None:
    source = read_yaml("f", "a:\n  b: 1\n  c:\n    - x\n    - {d: 2}\n", first_line=5)

    assert [source.line(path) for path in (("a",), ("a", "b"), ("a", "c", 1), ("a", "c", 1, "d"))] == [5, 6, 9, 9]
    assert source.line(("a", "b", "deeper")) == 6


@pytest.mark.parametrize(
    "text", ["[" * 2_000, "a: &x [*x]", "{" * 500, "a\0: 1", "- a\nb: 1", "? [a]\n: b", "a: 1e400"]
)
def test_odd_files_are_faults_and_nothing_else(text: str) -> None:
    assert read_yaml("f", text).faults


@given(st.text(alphabet=st.sampled_from(list("ab:-{}[]'\"#&*!|>%@`,\n\t ?~01.$")), max_size=40))
def test_no_text_does_anything_but_read_or_fault(text: str) -> None:
    source = read_yaml("f", text)

    assert all(fault.line >= 1 and fault.what for fault in source.faults)
