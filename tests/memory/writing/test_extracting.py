"""Which sentences of a turn could be remembered, and what they say."""

from __future__ import annotations

import pytest

from contracts import MemoryClass
from memory.writing.extracting import candidates
from memory.writing.policy import Feature, judge
from runtime.settings import MemorySettings


@pytest.mark.parametrize(
    ("text", "memory_class", "said"),
    [
        ("I prefer short answers.", MemoryClass.PREFERENCE, (None, None, "short answers")),
        ("Please call me Ann!", MemoryClass.PREFERENCE, ("the person", "is called", "Ann")),
        ("Our fiscal year starts in April.", MemoryClass.FACT, ("fiscal year", "starts in", "April")),
        ("The head office was moved to Newark.", MemoryClass.FACT, ("head office", "is in", "Newark")),
        ("We buy from Oak & Sons.", MemoryClass.FACT, ("we", "buy from", "Oak & Sons")),
        ("We decided to close gate B.", MemoryClass.DECISION, (None, None, "close gate B")),
        ("我喜欢表格。", MemoryClass.PREFERENCE, (None, None, "表格")),
        ("请叫我小安。", MemoryClass.PREFERENCE, ("the person", "is called", "小安")),
        ("我们的总部在上海。", MemoryClass.FACT, ("总部", "在", "上海")),
        ("我们决定关闭B口。", MemoryClass.DECISION, (None, None, "关闭B口")),
    ],
)
def test_forms_that_say_what_they_are_about_are_kept(
    text: str, memory_class: MemoryClass, said: tuple[str | None, str | None, str]
) -> None:
    [found] = candidates(text)
    assert found.memory_class is memory_class
    assert (found.subject, found.relation, found.value) == said
    assert judge(found.features, MemorySettings()).kept


@pytest.mark.parametrize(
    "text",
    [
        "Hello there!", "Thanks, that was great", "你好！", "哈哈，辛苦了", "What is our year?", "ok", "Is it April",
        "Our year starts in April?", "Snow fell.", "It depends on the weather.", "The weather is nice.", "x" * 5_000,
        " \n\t ", "...", "?!", " " * 20_000 + "hi",
    ],
)  # fmt: skip
def test_small_talk_questions_and_what_no_form_knows_are_not_kept(text: str) -> None:
    assert not [each for each in candidates(text) if judge(each.features, MemorySettings()).kept]


def test_what_is_to_be_remembered_is_kept_whatever_form_it_has() -> None:
    found = [*candidates("Hi. Remember that gate B leaks in rain. 记住：周五不开会。")]
    assert [each.text for each in found if Feature.REMEMBER in each.features] == [
        "gate B leaks in rain.", "周五不开会。",
    ]  # fmt: skip


def test_names_in_a_sentence_are_its_entities() -> None:
    [found] = candidates("Our contact at Oak Street Freight is Jane Doe.")
    assert found.entities == ("Oak Street Freight", "Jane Doe")
