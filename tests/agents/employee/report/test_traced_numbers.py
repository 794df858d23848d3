from __future__ import annotations

from collections.abc import Callable

import jsonpath
import pytest

from agents.employee.report.capability import Written
from runtime.errors import InvalidArguments
from tests.agents.employee.report.conftest import OUTPUTS

Body = Callable[[str], str]
EVERY_KIND = """\
{{ title }}: {{ flights.total }} {{ flights.share | number('0.1%') }} {{ flights.rows[0].cancelled }}
{{ sky['空港'] }} {{ picked.rate }} {{ rates[1] }} {{ sky.wind }}
{{ table(flights.rows, 'origin', ('rate', 'Rate', '0.0%')) }}
{{ chart('bar', flights.rows, 'origin', 'rate', 'Rates') }}
"""


def places(written: Written) -> list[tuple[str, str]]:
    return [(source.anchor, source.path) for source in written.sources]


def test_every_source_leads_to_the_value_in_the_output_of_its_step(write: Callable[..., Written]) -> None:
    for source in write(EVERY_KIND).sources:
        found = jsonpath.findall(f"$.{source.path}", OUTPUTS[source.step])
        assert len(found) == 1
        if source.path != "rows":
            assert found == [source.value]


def test_every_number_has_a_mark_and_every_mark_a_note(write: Callable[..., Written]) -> None:
    text = write(EVERY_KIND).files[0].data.decode()
    for printed in ("344[^1]", "47.3 %[^2]", "204[^3]", "3[^4]", "0.4375[^5]", "missing[^6]"):
        assert printed in text
    for anchor in range(1, 8):
        assert f"\n[^{anchor}]: " in text


def test_the_same_value_printed_twice_has_one_mark(body: Body) -> None:
    assert body("{{ flights.total }} {{ flights.total | number(',') }}") == "344[^1] 344[^1]"


def test_marks_are_numbered_in_reading_order(body: Body) -> None:
    template = "{% set later = flights.share ~ '' %}{{ flights.total }} {{ later }}"
    assert body(template) == "344[^1] 0.4725[^2]"


def test_arithmetic_keeps_both_origins(write: Callable[..., Written]) -> None:
    written = write("{{ (100 * flights.rows[0].rate - flights.rows[1].rate) | number('0.0') }}")
    assert written.files[0].data.startswith(b"49.6[^1]")
    assert places(written) == [("[^1]", "rows[0].rate"), ("[^1]", "rows[1].rate")]


def test_a_path_with_a_star_leads_to_each_item(write: Callable[..., Written]) -> None:
    assert places(write("{{ rates[1] }}")) == [("[^1]", "rows[1].rate")]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("flights.rows | sum(attribute='cancelled')", "344"),
        ("flights.rows | map(attribute='rate') | max", "0.5"),
        ("flights.rows | length", "2"),
        ("(flights.rows | sort(attribute='rate') | first).cancelled", "140"),
        ("flights.share | round(2)", "0.47"),
        ("'%.1f' | format(sky.gust)", "41.4"),
        ("'%s' % sky.gust", "41.4"),
        ("sky.gust | int", "41"),
        ("sky.gust ~ ''", "41.4"),
        ("-sky.gust", "-41.4"),
        ("flights.total // 10", "34"),
        ("1 - flights.share", "0.5275"),
        ("[sky.gust, sky.gust] | join('/')", "41.4[^1]/41.4"),
        ("(flights.rows | selectattr('rate', 'gt', 0.45) | list | length)", "1"),
        ("sky.gust | string", "41.4"),
        ("(flights.rows | groupby('origin') | last).list[0].rate", "0.4375"),
        ("flights.rows | map(attribute='rate') | map('number', '0%') | first", "50 %"),
    ],
)
def test_a_number_keeps_its_mark_on_every_way(body: Body, expression: str, words: str) -> None:
    assert body("{{ " + expression + " }}") == f"{words}[^1]"


@pytest.mark.parametrize("cut", ["(sky.gust ~ ' kn')[:2]", "(sky.gust ~ '') | int", "'%d' % sky.gust"])
def test_a_number_that_would_lose_its_mark_is_refused(body: Body, cut: str) -> None:
    with pytest.raises(InvalidArguments, match="template"):
        body("{{ " + cut + " }}")


def test_missing_is_never_a_number(body: Body) -> None:
    expressions = [
        "sky.wind",
        "sky.wind + 1",
        "sky.wind | number('0.0')",
        "1 / (flights.total - 344)",
        "sky.wind|round",
    ]
    for expression in expressions:
        assert body("{{ " + expression + " }}") == "missing[^1]"


def test_missing_is_not_compared_by_accident(body: Body) -> None:
    assert body("{{ 'calm' if sky.wind is missing else 'wind' }}") == "calm"
    with pytest.raises(InvalidArguments, match="is missing"):
        body("{{ 'storm' if sky.wind > 20 else 'calm' }}")


def test_a_number_written_in_the_template_needs_no_source(write: Callable[..., Written]) -> None:
    assert not write("The limit is {{ 10 + 5 }} %.").sources


def test_a_name_that_is_not_there_is_told_with_its_line_and_what_there_is(body: Body) -> None:
    with pytest.raises(InvalidArguments, match=r"line 2.*no `shar`.*rows, total, share"):
        body("# Title\n{{ flights.shar }}")


def test_a_template_that_cannot_be_read_is_told_with_its_line(write: Callable[..., Written]) -> None:
    with pytest.raises(InvalidArguments, match=r"report\.md\.j2, line 2"):
        write({"file": "report.md.j2", "text": "one\n{% if %}"})


def test_the_sandbox_opens_no_python(body: Body) -> None:
    for attack in (
        "flights.__class__.__mro__",
        "title.__class__",
        "''.__class__",
        "table.__globals__",
        "self.__init__",
    ):
        with pytest.raises(InvalidArguments):
            body("{{ " + attack + " }}")
