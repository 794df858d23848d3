"""How a past prompt reads."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from console.cli.output import Output
from console.cli.render.prompts import prompt_lines
from console.texts import say_in
from console.views_prompts import PromptMessage, PromptPart, ShownPrompt
from contracts import OrderId

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RULES = PromptPart("rules", "the platform", "full", 9, "Be\nbrief.", pinned=True)
NO_WORDS = PromptPart("transcript", "answer 1", "full", 0, "")
ARGUMENTS = PromptPart("transcript", "answer 1, arguments of look", "full", 2, "{}")
MESSAGES = (PromptMessage("system", (RULES,)), PromptMessage("assistant", (NO_WORDS, ARGUMENTS), calls=("look",)))


def told(capsys: pytest.CaptureFixture[str], *, whole: bool, index: int | None = None) -> list[str]:
    output = Output(say_in("en"), "en", as_json=False)
    shown = ShownPrompt(OrderId.new(), "think", index, 2, AT, True, 40, ("look",), MESSAGES)
    output.show(*prompt_lines(shown, output, whole=whole))
    return capsys.readouterr().out.splitlines()


def test_parts_stand_in_lines_and_what_is_never_shortened_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, whole=False)

    assert lines[0].startswith("think  answer 2, 11 characters, 40 tokens told by the endpoint")
    assert [line.split() for line in lines[1:3]] == [["system"], ["9", "rules", "full", "the", "platform", "⚑"]]
    assert "Be" not in " ".join(lines)


def test_an_answer_of_calls_alone_takes_no_line_for_the_words_that_it_has_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = told(capsys, whole=True)

    assert lines[3:5] == ["      Be", "      brief."]
    assert lines[5] == "  assistant → look"
    assert lines[6].split() == ["2", "transcript", "full", "answer", "1,", "arguments", "of", "look"]


def test_a_repetition_is_told_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, whole=False, index=2)[0].startswith("think[2]  ")
