from __future__ import annotations

from typing import Any

import jsonpath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.bindings import BindingFault, Reference, only_binding, reference_of, references, resolve
from runtime.errors import InvalidArguments

ROOTS: dict[str, Any] = {
    "paid": {"confirmed_by_person": True},
    "measure": {"rows": [{"x": 1}, {"x": 2.5}], "n": 2, "none": None, "text": "hé", "a b": {"c": 1}},
    "skipped": None,
    "item": 3,
}


@pytest.mark.parametrize(
    ("value", "given"),
    [
        ("{{ measure.n }}", 2),
        ("  {{measure.rows}} ", [{"x": 1}, {"x": 2.5}]),
        ("{{ measure.rows[0].x }}", 1),
        ("{{ measure.rows[-1].x }}", 2.5),
        ("{{ measure.rows[*].x }}", [1, 2.5]),
        ("{{ measure.rows[?@.x > 1].x }}", [2.5]),
        ("{{ measure.rows[?@.x > 9].x }}", []),
        ("{{ measure['a b'].c }}", 1),
        ("{{ skipped }}", None),
        ("{{ measure.none }}", None),
        ("{{ item }}{{ item }}", "33"),
        ("n = {{ measure.n }}, {{ measure.text }}, {{ measure.none }}", "n = 2, hé, null"),
        ({"a": ["{{ item }}", 1], "b": True}, {"a": [3, 1], "b": True}),
        ("no binding", "no binding"),
    ],
)
def test_a_binding_takes_the_value_it_names(value: Any, given: Any) -> None:
    assert resolve(value, ROOTS) == given


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{{ mesure.n }}", "there is no `mesure`. Did you mean `measure`?"),
        ("{{ measure.row }}", "`measure` has no field `row`. Did you mean `rows`?"),
        ("{{ measure.rows[7].x }}", "`measure.rows` has 2 items; there is no item 7"),
        ("{{ measure.n.x }}", "`measure.n` has no fields; it is 2."),
        ("{{ paid.receipt }}", "`paid` has no field `receipt`: of this effect is only known that it happened"),
        ("{{ skipped.x }}", "`skipped` has no value (the step was skipped, or gave none)."),
        ("{{ }}", "is not a path"),
        ("{{ measure.n + 1 }}", "is not a path"),
        ("{{ measure | n }}", "is not a path"),
        ("{{ size(measure) }}", "is not a path"),
        ("{{ measure.rows[?@.x > $.item] }}", "a filter may only look at `@`"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(value: str, words: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        resolve(value, ROOTS)

    assert words in caught.value.message


def test_the_content_of_a_file_is_passed_on_untouched() -> None:
    template = {"file": "report.md.j2", "text": "{{ total }} of {{ all }}"}

    assert resolve({"template": template}, ROOTS) == {"template": template}
    assert references({"template": template}) == []


def test_references_tell_root_path_and_whether_one_value_is_meant() -> None:
    assert references(["{{ a.b[0].c }}", {"x": "{{ a.rows[*].y }} and {{ z }}"}]) == [
        Reference("a.b[0].c", "a", ("b", 0, "c"), singular=True),
        Reference("a.rows[*].y", "a", ("rows",), singular=False),
        Reference("z", "z", (), singular=True),
    ]


@pytest.mark.parametrize("text", ["{{ a.b", "{{ a. }}", "{{ *.a }}", "{{ $.a }}"])
def test_what_is_no_path_is_a_fault(text: str) -> None:
    with pytest.raises(BindingFault):
        references(text)


def test_only_a_whole_text_is_one_binding() -> None:
    assert only_binding(" {{ a.b }} ") == "a.b"
    assert only_binding("{{ a }} and {{ b }}") is None
    assert only_binding("a") is None


@given(st.text(max_size=30))
def test_no_text_between_braces_does_anything_but_resolve_or_be_refused(text: str) -> None:
    try:
        reference_of(text)
    except BindingFault as fault:
        assert str(fault)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_a_whole_binding_keeps_the_value_as_it_is(value: Any) -> None:
    assert resolve("{{ a.b }}", {"a": {"b": value}}) == value


@given(st.from_regex(r"\A[a-c](\.[a-c]|\[[0-2]\]|\['[a-c]'\])*\Z"))
def test_a_plain_path_says_what_the_library_makes_of_it(text: str) -> None:
    roots: dict[str, Any] = {"a": {"b": [1, {"c": [2, 3]}, [4]], "c": {"a": None}}, "b": [[5], {"a": 6}], "c": "text"}
    query = jsonpath.compile(f"$.{text}", strict=True)

    found = query.match(roots)

    assert reference_of(text).singular
    if found is None:
        with pytest.raises(InvalidArguments):
            resolve(f"{{{{ {text} }}}}", roots)
    else:
        assert resolve(f"{{{{ {text} }}}}", roots) == found.obj


@given(st.from_regex(r"\A[a-c](\.[a-c]|\[[0-2]\])*(\[\*\](\.[a-c]|\[[0-2]\])*)+\Z"))
def test_a_path_with_stars_says_what_the_library_makes_of_it(text: str) -> None:
    roots: dict[str, Any] = {"a": {"b": [1, {"c": [2, 3]}, [4]], "c": {"a": None}}, "b": [[5], {"a": 6}], "c": "text"}
    query = jsonpath.compile(f"$.{text}", strict=True)

    reference = reference_of(text)

    assert (reference.root, reference.singular) == (text[0], query.singular_query())
    assert resolve(f"{{{{ {text} }}}}", roots) == query.findall(roots)
