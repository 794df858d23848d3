from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace

import pytest

from agents.employee.report.capability import ReportCapability, Written
from agents.employee.report.chart import Picture, draw
from agents.employee.report.sources import tidy
from console.texts.catalogue import say_in
from contracts import DataProduct
from runtime.canonical import sha256
from runtime.capabilities.port import Origin
from tests.agents.employee.report.conftest import arguments, context

TEMPLATE = """\
# {{ title }}
{{ flights.total }}
{{ table(flights.rows) }}
{{ chart('line', flights.rows, 'origin', ['rate', 'cancelled'], '取消率 $x_1$ <b>') }}
{{ chart('bar', flights.rows, 'note', 'rate', 'Rates') }}
"""
IN_ANOTHER_PROCESS = """
import hashlib, json
from tests.agents.employee.report.conftest import arguments, context, say
from tests.agents.employee.report.test_report_files import TEMPLATE
from agents.employee.report.capability import ReportCapability
written = ReportCapability(lambda _: say).write(arguments(TEMPLATE), context())
print(json.dumps([hashlib.sha256(file.data).hexdigest() for file in written.files]))
"""


def hashes(written: Written) -> list[str]:
    return [hashlib.sha256(file.data).hexdigest() for file in written.files]


def test_two_processes_with_other_hash_seeds_write_the_same_bytes(write: Callable[..., Written]) -> None:
    here = hashes(write(TEMPLATE))
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", IN_ANOTHER_PROCESS], env=environment, capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == here


@pytest.mark.anyio
async def test_the_files_are_the_report_and_then_its_charts(capability: ReportCapability) -> None:
    result = await capability.call(arguments(TEMPLATE), context())
    assert [file.name for file in result.files] == ["report.md", "chart-1.svg", "chart-2.svg"]
    assert result.output["markdown_sha256"] == sha256(result.files[0].data)
    assert result.output["n_sources"] == 2


@pytest.mark.anyio
async def test_the_report_is_handed_over_as_a_product_with_its_sources(capability: ReportCapability) -> None:
    (event,) = (await capability.call(arguments(TEMPLATE), context())).events
    product = DataProduct.read(event.data["product"])
    assert event.type == "product.made"
    assert product.artifacts[0].name == "report.md"
    assert {source.path for source in product.sources} == {"total", "rows"}
    assert product.title == "Cancellations"


def test_hostile_text_stays_text_in_the_markdown(write: Callable[..., Written]) -> None:
    text = write("{{ flights.rows[1].note }}\n\n{{ table(flights.rows, 'note') }}").files[0].data.decode()
    safe = r"a\|b &lt;b&gt;x&lt;/b&gt; &#96;c&#96; \[l\](http\://e.vil) &amp;lt;"
    assert text.count(safe) == 2
    assert "<b>" not in text


def test_hostile_text_stays_text_in_a_chart() -> None:
    words = '</text><script>alert("x")</script>\0\x1b&amp;'
    svg = draw(Picture("bar", [words], {words: [1.0]}, words, words)).decode()
    root = ET.fromstring(svg)
    assert "<script" not in svg
    assert root[0].text is not None
    assert root[0].text.startswith('</text><script>alert("x")</script>')


def test_chinese_words_are_letters_in_a_chart_and_no_formula_is_set() -> None:
    svg = draw(Picture("line", ["纽约"], {"取消率": [1.0]}, "取消率 $x_1$", "机场")).decode()
    for words in ("纽约", "取消率 $x_1$", "机场"):
        assert f">{words}</text>" in svg


def test_a_missing_value_is_a_gap_in_a_chart() -> None:
    assert draw(Picture("line", ["a", "b"], {"y": [1.0, float("nan")]}, "t", "x"))


def test_an_empty_table_says_so(write: Callable[..., Written]) -> None:
    text = write("{{ table(flights.rows[2:]) }}{{ chart('bar', flights.rows[2:], 'a', 'b', 't') }}").files[0].data
    assert text.startswith(b"report-no-rows[^1]report-no-rows[^1]\n")


def test_rows_beyond_the_most_are_counted(write: Callable[..., Written]) -> None:
    text = write("{{ table(flights.rows, 'origin', most=1) }}").files[0].data.decode()
    assert "report-table-source [^1] · report-more-rows 1" in text


def test_the_template_of_the_orders_language_is_taken(write: Callable[..., Written]) -> None:
    templates = {"en": "Flights", "zh": {"file": "report.zh.md.j2", "text": "航班"}}
    assert write(templates, "zh").files[0].data.decode() == "航班\n"
    assert write(templates, "de").files[0].data.decode() == "Flights\n"


@pytest.mark.parametrize(("step", "mark"), [("input", ""), ("desk/measure", "[^1]")])
def test_a_title_has_a_mark_only_for_what_was_found_out(capability: ReportCapability, step: str, mark: str) -> None:
    given = {"template": "# {{ title }}", "title": {"en": "Review of 2013", "zh": "2013 总览"}}
    origins = {"title.zh": Origin(step, "day", "a" * 64), "title.en": Origin(step, "day", "b" * 64)}
    written = capability.write(given, replace(context("zh"), origins=origins))
    assert written.files[0].data.decode().startswith(f"# 2013 总览{mark}\n")
    assert written.title == "2013 总览"


@pytest.mark.parametrize(("language", "words"), [("en", "missing[^1]"), ("zh", "缺失[^1]")])
def test_the_words_of_a_report_come_from_the_catalogue(language: str, words: str) -> None:
    template = (
        "{{ sky.wind }}{{ table(flights.rows, most=1) }}{{ table(flights.rows[2:]) }}{{ rates | sum }}{{ picked }}"
    )
    written = ReportCapability(say_in).write(arguments(template), context(language))
    assert written.files[0].data.decode().startswith(words)


@pytest.mark.parametrize(
    ("loose", "tidied"),
    [
        ("a\n## B\nc", "a\n\n## B\n\nc"),
        ("a\n![x](y.svg)\n![z](z.svg)", "a\n\n![x](y.svg)\n\n![z](z.svg)"),
        ("a\n\n \n\nb\n\n", "a\n\nb"),
        ("```\n# a\n\n\nb\n```\nc", "```\n# a\n\n\nb\n```\nc"),
        ("- a\n- b", "- a\n- b"),
    ],
)
def test_headings_and_images_stand_alone_however_a_template_ends_its_blocks(loose: str, tidied: str) -> None:
    assert tidy(loose) == tidied
    assert tidy(tidied) == tidied
