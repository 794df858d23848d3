"""Both catalogues hold the same texts, and every text that the code asks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fluent.syntax import FluentParser, ast
from fluent.syntax.visitor import Visitor

from console.cli.output import Output
from console.cli.problems import tell
from console.errors import SkillUnclear, UnknownOption
from console.texts.catalogue import LANGUAGES, UnknownText, say_in, source
from console.views import CardState, StepState
from console.views_system import Health
from contracts import Confidence, Direction, OrderState, Outcome, Severity, SignalKind
from governance.errors import CardClosed, NotAllowedToDecide
from runtime.errors import ExecutionBusy, LedgerUnavailable, ModelRequired, OrganisationFaulty, SiliconError

ROOT = Path(__file__).parents[2]
LAYERS = ("runtime", "memory", "governance", "agents", "cluster", "console")
NAMED = re.compile(r"""(["'])(?P<key>(?:finding|card-effect|card-doubt|report)-[a-z-]+)\1""")
"""Keys that stand in tables or arguments, to be said elsewhere."""
SAID = re.compile(r"""\bsay\(\s*(f?)(["'])(?P<key>[^"'\n]+?)\2""")


class _Variables(Visitor):
    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_VariableReference(self, node: ast.VariableReference) -> None:
        self.found.add(node.id.name)


def texts(language: str) -> dict[str, set[str]]:
    """Return each key of a catalogue with the variables of its text."""
    found: dict[str, set[str]] = {}
    for entry in FluentParser().parse(source(language)).body:
        assert not isinstance(entry, ast.Junk), f"{language}.ftl cannot be read at: {entry.content[:80]}"
        if isinstance(entry, ast.Message):
            assert entry.id.name not in found, f"{language}.ftl has {entry.id.name} twice"
            variables = _Variables()
            variables.visit(entry)
            found[entry.id.name] = variables.found
    return found


def said() -> list[tuple[str, str]]:
    """Return each key that the code asks for, with its file; parts that are filled in stand as `{…}`."""
    found = []
    for layer in LAYERS:
        for file in sorted((ROOT / layer).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            for match in SAID.finditer(text):
                found.append((str(file.relative_to(ROOT)), match["key"]))
    return found


def named() -> list[tuple[str, str]]:
    """Return each key that stands alone in the code of a lower layer; it may be the beginning of several."""
    files = [file for layer in LAYERS for file in sorted((ROOT / layer).rglob("*.py"))]
    return [(file.name, match["key"]) for file in files for match in NAMED.finditer(file.read_text(encoding="utf-8"))]


def test_both_catalogues_have_the_same_keys() -> None:
    assert texts("en").keys() == texts("zh").keys()


def test_a_text_has_the_same_variables_in_both_languages() -> None:
    english, chinese = texts("en"), texts("zh")

    assert {key: english[key] for key in english} == {key: chinese[key] for key in english}


def test_every_key_that_the_code_asks_for_is_there() -> None:
    keys = texts("en").keys()
    missing = [
        f"{file}: {key}"
        for file, key in said()
        if not any(re.fullmatch(re.sub(r"\\\{[^}]*\\\}", "[a-z-]+", re.escape(key)), each) for each in keys)
    ]

    assert missing == []


def test_every_key_that_stands_alone_in_the_code_is_there() -> None:
    keys = texts("en").keys()

    assert len(named()) > 10
    assert [(file, key) for file, key in named() if not any(each.startswith(key) for each in keys)] == []


def test_every_state_has_a_word() -> None:
    states = [*OrderState, *StepState, *CardState, *Outcome]
    keys = texts("en").keys()

    assert [f"state-{state.value}" for state in states if f"state-{state.value}" not in keys] == []
    assert [each for each in Confidence if f"confidence-{each.value}" not in keys] == []
    assert [each for each in Severity if f"severity-{each.value}" not in keys] == []
    assert [each for each in Direction if f"direction-{each.value}" not in keys] == []
    assert [each for each in SignalKind if f"signal-{each.value.replace('_', '-')}" not in keys] == []
    assert len(Health) == 3


def test_no_text_uses_words_that_people_should_not_meet() -> None:
    for language in LANGUAGES:
        text = source(language).lower()
        for word in ("orchestrator", "llm", "payload", "successfully", "please", "!", "！", "待审批", "请您"):
            assert word not in text, f"{language}.ftl says {word}"


def test_numbers_choose_their_plural() -> None:
    say = say_in("en")

    assert say("check-faults", count=1) == "1 fault. Nothing was run."
    assert say("check-faults", count=2) == "2 faults. Nothing was run."


def test_an_unknown_key_and_a_missing_fact_are_errors() -> None:
    with pytest.raises(UnknownText, match="no-such-text"):
        say_in("en")("no-such-text")
    with pytest.raises(UnknownText, match="check-faults"):
        say_in("en")("check-faults")


def test_a_language_that_is_not_there_is_english() -> None:
    assert say_in("fr")("state-done") == "done"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SkillUnclear("No skill fits.\n  explain: why", skills=["explain"]), "✗ 无法从目标判断该用哪项技能"),
        (NotAllowedToDecide("no", card="card/1", person="dana", why="requester"), "✗ 这次执行由 dana 提出"),
        (
            CardClosed("no", card="card/1", outcome="expired", by=None, at="2026-11-30T12:00:00+00:00"),
            "✗ card/1 已过期",
        ),
        (
            ExecutionBusy("no", execution_id="execution/1", holder="x", until="2026-11-30T12:00:00+00:00"),
            "✗ execution/1 正由 x",
        ),
        (ModelRequired("no", step="s", setting="model.reason", variable="V"), "✗ 步骤 s 需要模型"),
        (LedgerUnavailable("no", address="sqlite:///x", error="locked"), "✗ 账本 sqlite:///x 无法读写：locked"),
        (LedgerUnavailable("The ledger was closed.", address="sqlite:///x"), "✗ The ledger was closed."),
        (OrganisationFaulty("x/org.yaml:1  a\n1 fault.", folder="x", faults=[{}]), "  x 有 1 处错误"),
        (UnknownOption("no", card="card/1", option="a", options=["b", "deny"]), "✗ card/1 没有方案 a。可选：b, deny。"),
    ],
)
def test_frequent_errors_are_told_in_the_language_of_the_answer(
    error: SiliconError, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(error, Output(say_in("zh"), "zh", as_json=False))

    assert said in capsys.readouterr().err


def test_what_others_wrote_in_an_error_stays_below_its_translation(capsys: pytest.CaptureFixture[str]) -> None:
    tell(SkillUnclear("No.\n  explain: why", skills=["explain"]), Output(say_in("zh"), "zh", as_json=False))

    assert "explain: why" in capsys.readouterr().err
