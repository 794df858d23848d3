from __future__ import annotations

import json
import re
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from runtime.context.bounds import Spelled, excerpt, one_line, packed, rendered, shortened

TEXT = st.text(max_size=400)


@given(TEXT, st.integers(0, 300))
def test_a_shortened_text_keeps_its_bound_and_is_a_beginning(text: str, most: int) -> None:
    cut = shortened(text, most)

    assert len(cut) <= most or cut == text
    assert cut == text or text.startswith(cut.removesuffix("…"))


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60), st.integers(40, 200))
def test_no_number_is_torn(numbers: list[int], most: int) -> None:
    text = json.dumps(numbers, separators=(",", ":"))
    given_numbers = set(map(str, numbers))

    for cut in (shortened(text, most), excerpt(text, len(text) // 2, len(text) // 2, most), rendered(numbers, most)):
        whole = re.findall(r"\d+", cut)
        assert len(cut) <= most
        assert len(text) <= most or set(whole) <= given_numbers


@given(st.text(max_size=600), st.integers(0, 600), st.integers(20, 300))
def test_an_excerpt_keeps_its_bound(text: str, at: int, most: int) -> None:
    assert len(excerpt(text, min(at, len(text)), min(at + 3, len(text)), most)) <= most


def test_an_excerpt_shows_what_it_is_about() -> None:
    text = "before " * 200 + "order/01J9ABC" + " after" * 200
    start = text.index("order")

    assert "order/01J9ABC" in excerpt(text, start, start + 13, 80)


@given(st.lists(st.text(max_size=60), max_size=40), st.integers(30, 400))
def test_packed_lines_keep_their_bound(lines: list[str], limit: int) -> None:
    assert len(packed(lines, limit)) <= limit


def test_packed_lines_say_how_many_are_left_out() -> None:
    assert packed([f"line {number}" for number in range(100)], 60).endswith("… and 94 more")


def test_packing_reads_no_more_lines_than_it_needs() -> None:
    read: list[int] = []

    def lines() -> Iterator[str]:
        for number in range(1_000_000):
            read.append(number)
            yield f"line {number}"

    packed(lines(), 200, total=1_000_000)

    assert len(read) < 50


def test_a_number_keeps_the_spelling_that_it_came_in() -> None:
    assert rendered([Spelled("1.10"), 2.5, True, None, "货"], 100) == '[1.10,2.5,true,null,"货"]'


def test_one_line_of_a_text_has_no_breaks_and_tears_no_number() -> None:
    assert one_line("a\n\tb", 20) == "a b"
    assert one_line(" " * 500 + "1234567890", 100) in ("…", "1234567890")


def test_rendering_a_large_value_reads_little_of_it() -> None:
    class Counted(list[int]):
        read = 0

        def __iter__(self) -> Iterator[int]:
            for item in super().__iter__():
                Counted.read += 1
                yield item

    assert len(rendered(Counted(range(1_000_000)), 200)) <= 200  # type: ignore[arg-type]
    assert Counted.read < 500
