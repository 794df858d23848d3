"""Whatever stands in the data, a terminal shows it and never obeys it."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from console.cli.main import main
from console.cli.output import CleanConsole, Output, cleaned, write
from console.cli.render.branches import Branch, tree
from console.cli.render.card import closed_card, open_card, whole_card
from console.cli.render.facts import facts, table
from console.cli.render.outcome import outcome_lines
from console.cli.render.values import MOST_LETTERS
from console.cli.visible import is_hidden, visible, visible_json
from console.texts import say_in
from console.views import CardStanding, CardState
from contracts import OrderState, Outcome
from tests.console.conftest import Silicon
from tests.fakes.console_values import CARD, a_card, outcome, standing

HIDDEN = "\x00\x07\x08\x0b\x0c\r\n\t\x1b\x7f\x85\x9b\u061c\u200b\u200d\u200e\u200f\u2028\u2029\u202a\u202e"
HIDDEN += "\u2060\u2066\u2069\ufeff\u00ad\u034f\u3164\U000e0041\U000e0100"
TEXTS = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(HIDDEN)), min_size=1, max_size=30)


def on_a_terminal(lines: list[object], *, terminal: bool = True, width: int = 80) -> str:
    """Return what reaches the terminal, without the colours that are rich's own."""
    stream = io.StringIO()
    console = CleanConsole(file=stream, force_terminal=terminal, no_color=True, color_system=None, width=width)
    write(console, *lines)  # type: ignore[arg-type]
    return stream.getvalue()


def a_standing(text: str) -> CardStanding:
    """Return a card with the text in every field that data can reach."""
    card = a_card()
    acts = card.options[0].actions[0]
    action = acts.model_copy(update={"arguments": {"flights": text, text: {text: [text, 1, None]}}})
    options = tuple(
        option.model_copy(
            update={"title": text, "benefit": text, "risk": text, "cost": text, "actions": (action,), "undo": (action,)}
        )
        for option in card.options
    )
    changed = card.model_copy(
        update={
            "question": {"en": text},
            "impact": text,
            "options": options,
            "facts": {"rate": {"value": text, "source": {"step": text, "path": text}}, text: [text] * 9},
            "requested_by": text,
        }
    )
    return standing(card=changed)


@settings(deadline=None)
@given(TEXTS, st.booleans())
def test_no_control_of_any_field_of_a_card_reaches_the_terminal(text: str, terminal: bool) -> None:
    shown = a_standing(text)
    closed = replace(shown, state=CardState.CLOSED, outcome=Outcome.EXPIRED)
    output = Output(say_in("en"), "en", as_json=False)

    parts = [*whole_card(shown, output), *open_card(shown, output), *closed_card(closed, output)]
    ended = outcome(goal=text, cards=(shown,), decided=(closed,), state=OrderState.DONE)
    written = on_a_terminal([*parts, *outcome_lines(ended, output)], terminal=terminal)

    assert [hex(ord(each)) for each in written if each != "\n" and is_hidden(each)] == []


@settings(deadline=None)
@given(TEXTS)
def test_no_text_begins_a_line_of_its_own(text: str) -> None:
    assert on_a_terminal([Text(text)], width=1_000).count("\n") == 1
    assert on_a_terminal([text], width=1_000).count("\n") == 1


@settings(deadline=None)
@given(TEXTS)
def test_no_control_reaches_tables_trees_and_facts(text: str) -> None:
    branch = Branch("done", text, text, notes=(text,), children=(Branch("failed", text),))
    parts = [
        table([text], [[text], [Text(text)]]),
        facts([(text, text), (text, Text(text))]),
        *tree([branch], say_in("en"), 60),
    ]

    written = on_a_terminal(parts)

    assert [hex(ord(each)) for each in written if each != "\n" and is_hidden(each)] == []


@settings(deadline=None)
@given(TEXTS)
def test_json_means_the_same_and_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    written = visible_json(json.dumps({text: [text]}, ensure_ascii=False, indent=2))

    assert json.loads(written) == {text: [text]}
    assert [hex(ord(each)) for each in written if each != "\n" and is_hidden(each)] == []


def test_what_is_hidden_is_shown_by_name() -> None:
    assert visible("a\x1b[2K\u202eb\nc\t\x9b\U000e0041") == r"a\x1b[2K\u202eb⏎c\t\x9b\U000e0041"
    assert visible("Grüße, 延误 3 h, 1 000 €") == "Grüße, 延误 3 h, 1 000 €"


def test_styles_stay_where_they_were() -> None:
    text = cleaned(Text.assemble(("a\x1bb", "bold"), ("c", "red")))

    assert isinstance(text, Text)
    assert [(text.plain[span.start : span.end], span.style) for span in text.spans] == [
        (r"a\x1bb", "bold"),
        ("c", "red"),
    ]


def test_an_argument_that_looks_like_two_stands_in_quotation_marks(silicon: Silicon) -> None:
    put_argument(silicon, "1, airports: [LGA]")

    silicon("approvals", "show", "0CRD")

    assert 'desk.waive_fees(flights: "1, airports: [LGA]")' in silicon.out


def test_numbers_of_an_action_are_exact(silicon: Silicon) -> None:
    put_argument(silicon, [1234567.891, 1, 2, 3, 4, 5, 6, 7])

    silicon("approvals", "show", "0CRD")

    assert "waive_fees(flights: [1234567.891, 1, 2, 3, 4, 5, 6, 7])" in silicon.out


def test_a_long_argument_is_shortened_with_its_length_hash_and_the_command_that_shows_it(silicon: Silicon) -> None:
    value = "x" * 300_000
    put_argument(silicon, value)

    silicon("approvals", "show", "0CRD")

    flat = "".join(silicon.out.split())
    assert len(silicon.out) < 10_000
    assert "300,000lettersinall,sha256" + hashlib.sha256(value.encode()).hexdigest() in flat
    assert f"siliconapprovalsshow{CARD}--json" in flat
    assert value in silicon("approvals", "show", "0CRD", "--json").out


def test_a_long_impact_says_how_much_is_left_out(silicon: Silicon) -> None:
    silicon.application.open_cards = (
        standing(card=a_card().model_copy(update={"impact": "x" * (MOST_LETTERS + 1_500)})),
    )

    silicon("approvals", "show", "0CRD")

    assert "1,500 letters are left out here" in " ".join(silicon.out.split())


def test_what_a_person_is_about_to_decide_is_announced_clean(silicon: Silicon) -> None:
    put_argument(silicon, "1\x1b[2K\r\u202eforged")

    silicon("approvals", "decide", "0CRD", "waive")

    assert r'flights: "1\u001b[2K\r\u202eforged"' in silicon.err
    assert "\x1b" not in silicon.err


def test_bytes_that_are_no_text_are_usage(silicon: Silicon) -> None:
    assert main(["run", "org", "Why\udcff?"]) == 2
    assert "no text (UTF-8)" in silicon.capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["ru\x1b[2Jn"], ["run", "--wi\x1bth"]])
def test_usage_errors_repeat_nothing_that_a_terminal_obeys(silicon: Silicon, arguments: list[str]) -> None:
    silicon(*arguments)

    assert silicon.code == 2
    assert "\x1b" not in silicon.err


def put_argument(silicon: Silicon, value: object) -> None:
    """Give the first option's action one argument."""
    card = a_card()
    option = card.options[0]
    action = option.actions[0].model_copy(update={"arguments": {"flights": value}})
    options = (option.model_copy(update={"actions": (action,)}), *card.options[1:])
    silicon.application.open_cards = (standing(card=card.model_copy(update={"options": options})),)
