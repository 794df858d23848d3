from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.canonical import sha256
from runtime.context.errors import RepresentationTwice
from runtime.context.parts import Form, Part, require_single

REF = sha256({"rows": [1, 2, 3]})
OTHER = sha256({"rows": []})


def part(form: Form, *, block: str = "transcript", origin: str = "step weather", ref: str = REF) -> Part:
    return Part(block=block, text="…", origin=origin, ref=ref, form=form)


FORBIDDEN = {(Form.FULL, Form.FULL), (Form.FULL, Form.SUMMARY), (Form.SUMMARY, Form.FULL)}


@pytest.mark.parametrize(("first", "second"), list(product(Form, Form)))
def test_a_datum_is_refused_beside_itself_where_one_of_the_two_is_whole(first: Form, second: Form) -> None:
    parts = [part(first), part(second)]

    if (first, second) in FORBIDDEN:
        with pytest.raises(RepresentationTwice):
            require_single(parts)
    else:
        require_single(parts)


def test_the_refusal_names_both_blocks_and_both_origins() -> None:
    parts = [part(Form.SUMMARY, block="data bus", origin="step weather, field rows"), part(Form.FULL)]

    with pytest.raises(RepresentationTwice) as refused:
        require_single(parts)

    assert refused.value.code == "REPRESENTATION_TWICE"
    for named in ("data bus", "step weather, field rows", "transcript", "step weather"):
        assert named in refused.value.message
    assert refused.value.facts["ref"] == REF


def test_two_data_and_words_that_stand_for_none_may_all_be_whole() -> None:
    words = Part(block="rules", text="Never invent.", origin="platform")

    require_single([words, words, part(Form.FULL), part(Form.FULL, ref=OTHER)])


@pytest.mark.parametrize("ref", [REF[:12], REF.upper(), f"{REF}0", ""])
def test_a_reference_that_is_not_whole_is_none(ref: str) -> None:
    with pytest.raises(ValueError, match="whole sha256"):
        part(Form.SUMMARY, ref=ref)


@pytest.mark.parametrize("form", [Form.SUMMARY, Form.POINTER])
def test_what_stands_for_a_datum_has_its_reference(form: Form) -> None:
    with pytest.raises(ValueError, match="needs its reference"):
        Part(block="data bus", text="…", origin="step weather", form=form)


@given(st.lists(st.tuples(st.sampled_from([REF, OTHER]), st.sampled_from(Form)), max_size=6))
def test_whatever_passes_shows_no_datum_in_two_forms(shown: list[tuple[str, Form]]) -> None:
    try:
        require_single([part(form, ref=ref) for ref, form in shown])
    except RepresentationTwice:
        return
    for ref in (REF, OTHER):
        forms = [form for each, form in shown if each == ref and form is not Form.POINTER]
        assert forms.count(Form.FULL) == 0 or forms == [Form.FULL]
