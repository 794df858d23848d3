from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.context.errors import AnchorUnknown
from runtime.context.inspect import context, get_stored_data, head, outline, search, tail
from runtime.context.reading.anchors import path_text

LIMIT = 4_000
PIECES = st.sampled_from(
    ["<p>", "</p>", "<td>", "<table>", ",", ";", "\t", "\n", "2026-01-01 10:00:00 ", "ERROR ", "# ", "{", "}", "[", "]",
     '"', "货款", "مرحبا", "😀", "1.10", "\ud800", "\0", "L1", "$.a", " "]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=25,
)
ORDERS: dict[str, Any] = {
    "city": "上海",
    "orders": [
        {"id": f"order/01J9{n:04d}", "price": n * 1.5, "note": "货款未付" if n == 17 else "paid late",
         "in": {"hub": "EWR"}}
        for n in range(60)
    ],
    "log": "\n".join(
        f"2026-01-01 10:00:{n:02d} {'ERROR' if n == 9 else 'INFO'} job {n} took {n * 13} ms" for n in range(50)
    ),
}  # fmt: skip


def addresses(told: str) -> list[str]:
    return re.findall(r"^(\$\S*(?: L\d+(?::\d+)?)?|L\d+(?::\d+)?) ", told, re.M)


@settings(max_examples=60)
@given(JSON | TEXTS, st.integers(500, 1_500))
def test_every_answer_keeps_its_bound_whatever_the_data_is(value: Any, limit: int) -> None:
    told = [
        outline(value, limit=limit),
        search(value, "货款 error 1.10", limit=limit),
        head(value, 5, limit=limit),
        tail(value, 5, limit=limit),
    ]

    assert [len(each) <= limit for each in told] == [True] * 4
    for each in told:
        each.encode()


@settings(max_examples=60)
@given(JSON | TEXTS, TEXTS)
def test_any_anchor_gives_a_bounded_answer_or_says_what_is_wrong_with_it(value: Any, anchor: str) -> None:
    try:
        assert len(context(value, anchor, 2, 2, limit=600)) <= 600
    except AnchorUnknown as unknown:
        assert unknown.message


@pytest.mark.parametrize("query", ["order/01J90042", "63.0", "货款", "job 14", "JOB 14 TOOK 182", "上海"])
def test_what_stands_in_the_data_is_found(query: str) -> None:
    told = search(ORDERS, query, limit=LIMIT)

    assert "stands in 1 place:" in told
    [address] = addresses(told)
    assert query.lower() in context(ORDERS, address, 0, 0, limit=LIMIT).lower()


@given(st.integers(0, 59))
def test_each_record_is_found_by_its_id_under_its_path(n: int) -> None:
    assert f"$.orders[{n}].id order/01J9{n:04d}" in search(ORDERS, f"01J9{n:04d}", limit=LIMIT)


def test_words_of_one_record_are_found_together_in_whichever_fields_they_stand() -> None:
    told = search(ORDERS, "EWR 未付 货款", limit=LIMIT).splitlines()

    assert told[0] == "'EWR 未付 货款' stands nowhere as it is written."
    assert told[2].startswith("$.orders[17].note (3 of 3)")


def test_an_english_word_is_found_in_its_other_forms() -> None:
    assert "L2" in search("# Note\nThe flight was cancelled.\n\nNothing else.", "cancellations of flights", limit=LIMIT)


def test_a_field_is_found_by_its_name() -> None:
    assert "field $.orders[*].price: 60 values" in search(ORDERS, "price", limit=LIMIT)
    assert "field $.orders[*].in: 60 values" in search(ORDERS, "in", limit=LIMIT)


def test_hits_that_do_not_fit_are_counted() -> None:
    value = ["needle"] * 5_000
    told = search(value, "needle", limit=600).splitlines()

    assert told[0] == "'needle' stands in 5,000 places:"
    shown = len(told) - 2
    assert told[-1] == f"… and {5_000 - shown:,} more"


def test_every_place_in_one_long_line_is_found_with_its_column() -> None:
    line = "x" * 700_000 + " needle-1 " + "y" * 700_000 + " needle-2 " + "z" * 600_000

    told = search(line, "needle-", limit=LIMIT)

    assert "stands in 2 places" in told
    assert addresses(told) == ["L1:700002", "L1:1400012"]
    assert "needle-2" in context(line, "L1:1400012", 0, 0, limit=LIMIT)


def test_what_is_not_there_is_not_found() -> None:
    assert search(ORDERS, "nowhere-at-all", limit=LIMIT).startswith("Nothing of")
    assert search(ORDERS, "  ", limit=LIMIT).startswith("The query is empty")


@pytest.mark.parametrize(
    "text",
    [
        ORDERS["log"],
        "id,city\n" + "\n".join(f"{n},city-{n}" for n in range(30)),
        "# One\n\nFirst words.\n\n## Two\n\nSecond words.",
        "<html><body><h1>Prices</h1><p>Text of it.</p><h2>More</h2></body></html>",
    ],
)
def test_every_address_of_an_outline_is_a_place(text: str) -> None:
    told = outline(text, limit=LIMIT)

    assert addresses(told)
    for address in addresses(told):
        assert address in context(text, address, 0, 0, limit=LIMIT)


def test_an_outline_tells_of_long_texts_inside_json_under_their_path() -> None:
    told = outline(ORDERS, limit=LIMIT)

    assert "$.orders[*].id text" in told
    assert "Text at $.log: Log" in told
    assert "levels: INFO 49, ERROR 1" in told


def test_around_a_field_of_a_record_stand_the_records_beside_it() -> None:
    told = context(ORDERS, "$.orders[3].price", 1, 1, limit=LIMIT)

    assert "$.orders[3].price 4.5" in told
    assert addresses(told) == ["$.orders[3].price", "$.orders[2]", "$.orders[3]", "$.orders[4]"]
    assert '"id":"order/01J90002"' in told


def test_around_a_line_of_a_text_in_json_stand_its_neighbours() -> None:
    assert addresses(context(ORDERS, "$.log L10", 1, 2, limit=LIMIT)) == [f"$.log L{n}" for n in (9, 10, 11, 12)]


def test_a_line_of_a_table_stands_below_the_names_of_its_columns() -> None:
    assert context("id,city\n1,上海\n2,EWR\n3,JFK", "L3", 0, 0, limit=LIMIT) == "columns: id,city\nL3 2,EWR"


def test_an_anchor_may_be_a_text_that_stands_in_the_data() -> None:
    assert context(ORDERS, "job 9 took", 0, 0, limit=LIMIT) == "$.log L10 2026-01-01 10:00:09 ERROR job 9 took 117 ms"
    assert '"id":"order/01J90005"' in context(ORDERS, "order/01J90005", 1, 0, limit=LIMIT)


@pytest.mark.parametrize("anchor", ["$.orders[60]", "$.nothing", "L3", "$.log L51", "$.city.name", "no such words"])
def test_an_anchor_that_the_data_does_not_have_is_refused(anchor: str) -> None:
    with pytest.raises(AnchorUnknown):
        context(ORDERS, anchor, 1, 1, limit=LIMIT)


def test_head_and_tail_go_through_the_longest_array_or_the_one_that_is_named() -> None:
    assert head(ORDERS, 2, limit=LIMIT).splitlines()[0] == "items of $.orders, first 2 of 60:"
    assert addresses(tail(ORDERS, 2, limit=LIMIT)) == ["$.orders[58]", "$.orders[59]"]
    assert addresses(tail(ORDERS, 2, limit=LIMIT, at="$.log")) == ["$.log L49", "$.log L50"]
    assert addresses(head(ORDERS, 9, limit=LIMIT, at="$.orders[3].in")) == ["$.orders[3].in.hub"]


def test_a_tail_that_does_not_fit_keeps_the_very_last() -> None:
    told = tail([{"n": n, "text": "x" * 90} for n in range(100)], 100, limit=600)

    assert '"n":99' in told.splitlines()[-1]
    assert told.splitlines()[1].endswith("more before")


@given(st.recursive(st.integers() | st.text(), lambda inside: st.dictionaries(st.text(), inside) | st.lists(inside)))
def test_every_single_value_can_be_asked_for_by_its_path(value: Any) -> None:
    def paths(here: Any, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
        pairs = here.items() if isinstance(here, dict) else enumerate(here) if isinstance(here, list) else ()
        return [path, *(each for step, inside in pairs for each in paths(inside, (*path, step)))]

    data = {"value": value}
    for path in paths(data, ()):
        context(data, path_text(path), 1, 1, limit=600)


def test_stored_data_is_given_whole_up_to_the_limit_and_bit_for_bit() -> None:
    value = {"b": [1, 2.5, "货"], "a": "x" * 9_000}
    assert json.loads(get_stored_data(value, whole_chars=10_000)) == value
    assert get_stored_data("y" * 10_000, whole_chars=10_000) == "y" * 10_000


def test_longer_data_is_given_condensed_and_bounded() -> None:
    told = get_stored_data("y" * 10_001, whole_chars=10_000, condensed="many y" * 5_000)

    assert told.startswith("10,001 characters, condensed.")
    assert len(told) <= 10_000
    with pytest.raises(ValueError, match="condensed first"):
        get_stored_data("y" * 10_001, whole_chars=10_000)
