from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.digest import digest, gist

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=30,
)
ROWS = {"city": "上海", "rows": [{"id": f"order/01J9{n:04d}", "price": n / 4, "late": n % 2 == 0} for n in range(40)]}


@given(JSON, st.integers(200, 1_000), st.booleans())
def test_a_digest_never_exceeds_its_bound(value: object, limit: int, without_samples: bool) -> None:
    assert len(digest(value, limit=limit, without_samples=without_samples)) <= limit  # type: ignore[arg-type]


@given(JSON, st.integers(50, 400))
def test_a_gist_is_one_line_within_its_bound(value: object, limit: int) -> None:
    told = gist(value, limit=limit, length=12_345)  # type: ignore[arg-type]

    assert len(told) <= limit and len(told.splitlines()) == 1


def test_a_gist_names_the_fields_as_deep_as_there_is_room() -> None:
    assert gist(ROWS, limit=200, length=9_000) == "{city, rows: 40 × {id, price, late}}, 9,000 characters"
    assert gist(ROWS, limit=50, length=9_000) == "{city, rows: 40 × items}, 9,000 characters"


@given(JSON)
def test_the_same_value_has_the_same_digest(value: object) -> None:
    assert digest(value, limit=500) == digest(json.loads(json.dumps(value)), limit=500)  # type: ignore[arg-type]


def test_fields_of_objects_in_an_array_are_told_with_type_and_first_value() -> None:
    told = digest(ROWS, limit=1_000)

    assert '$.city text = "上海"' in told
    assert "$.rows array of 40 objects" in told
    assert '$.rows[*].id text, first "order/01J90000"' in told
    assert "$.rows[*].price number, first 0.0" in told
    assert "$.rows[*].late boolean, first true" in told


def test_an_array_of_single_values_shows_the_first_and_how_many_more() -> None:
    assert "array of 20 numbers, first 7, 8, 9, … and 17 more" in digest(list(range(7, 27)), limit=300)


def test_without_samples_a_digest_tells_the_shape_alone() -> None:
    told = digest(ROWS, limit=1_000, without_samples=True)

    assert "$.rows[*].price number" in told
    assert "order/01J9" not in told
    assert "上海" not in told


def test_a_field_that_only_some_items_have_is_told_as_such() -> None:
    told = digest([{"a": 1, "b": None}, {"a": "x"}], limit=500)

    assert "$[*].a number or text" in told
    assert "$[*].b null, not in all" in told


def test_places_that_do_not_fit_are_counted() -> None:
    told = digest({f"field_{n}": n for n in range(40)}, limit=300)

    assert "$.field_0 number = 0" in told
    assert "more places inside" in told


@pytest.mark.parametrize("number", ["1.10", "100000000000000000001", "1e5", "0.30000000000000004", "-0.0"])
def test_numbers_of_a_json_text_stand_as_they_were_written(number: str) -> None:
    assert f"first {number}" in digest(f'{{"rows": [{{"n": {number}}}, {{"n": 2}}]}}', limit=500)


def test_json_lines_are_taken_for_an_array() -> None:
    assert "$[*].id number, first 1" in digest('{"id": 1}\n{"id": 2}\n', limit=500)


def test_a_table_is_told_by_its_columns_and_first_rows() -> None:
    told = digest("id;城市;price\n1;上海;10,50\n2;;11,00\n", limit=500)

    assert "2 rows × 3 columns, separated by semicolons" in told
    assert "column 城市: text, 1 different, 1 empty, first 上海" in told
    assert "column price: number, first 10,50" in told
    assert "L2 1;上海;10,50" in told


def test_a_page_is_told_by_title_headings_and_tables() -> None:
    told = digest(
        "<!doctype html><title>Prices &amp; more</title><h1>Today</h1>"
        "<table><tr><th>City<th>Price<tr><td>上海<td>10.50</table>",
        limit=500,
    )

    assert "title: Prices & more" in told
    assert "table at L3, 2 rows × 2 columns: City | Price" in told
    assert "L2 # Today" in told


def test_a_log_is_told_by_its_times_and_levels() -> None:
    log = "\n".join(f"2026-01-01T10:00:{n:02d}Z {'ERROR' if n == 7 else 'INFO'} job {n} done" for n in range(20))

    told = digest(log, limit=800)

    assert "from 2026-01-01T10:00:00Z to 2026-01-01T10:00:19Z" in told
    assert "levels: INFO 19, ERROR 1" in told
    assert "L8 2026-01-01T10:00:07Z ERROR job 7 done" in told


def test_prose_with_commas_is_no_table() -> None:
    assert digest("Well, then.\nNow, here we are.\nSo, it goes.", limit=300).startswith("Text")


def test_of_a_large_value_only_some_thousand_items_are_looked_at() -> None:
    class Counted(list[object]):
        read = 0

        def __iter__(self) -> Iterator[object]:
            for item in super().__iter__():
                Counted.read += 1
                yield item

    value = Counted({"id": n, "tags": Counted(range(20))} for n in range(100_000))
    digest(value, limit=1_000, length=9_000_000)  # type: ignore[arg-type]

    assert Counted.read < 10_000


@pytest.mark.parametrize(
    "hostile",
    ["[" * 100_000, '{"a":' * 50_000, "<div>" * 100_000, "<!--" * 200_000, "<a<" * 200_000, "<script>" * 100_000,
     '"' * 500_000, "," * 500_000, "\n" * 500_000, "9" * 500_000, f"[{'9' * 10_000}]", "\0" * 1_000, "\ud800 x" * 1_000,
     "<!---->" * 500 + "x"],
)  # fmt: skip
def test_hostile_texts_are_told_like_any_other(hostile: str) -> None:
    told = digest(hostile, limit=1_000)

    assert 0 < len(told) <= 1_000
    told.encode()
