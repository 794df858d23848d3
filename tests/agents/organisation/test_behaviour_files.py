"""`behavior/`: what can be read is pinned with the organisation, the rest is told with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.organisation import check, load
from console.specs import all_builtin_specs
from memory.behaviour.behaviour import BehaviourKind
from tests.console.desks import make_organisation


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = make_organisation(tmp_path / "desk")
    for name in ("strategies", "chains"):
        (made / "behavior" / name).mkdir(parents=True)
    return made


def faults(folder: Path) -> list[tuple[str, int, str]]:
    return [(each.file, each.line, each.what) for each in check(folder, builtin=all_builtin_specs()).faults]


def test_strategies_and_chains_are_read(folder: Path) -> None:
    (folder / "behavior" / "strategies" / "brief.yaml").write_text("text: {en: Be brief., zh: 简短。}\n")
    (folder / "behavior" / "chains" / "snow.yaml").write_text("text: Snow.\nwhen: it snows\nsteps: [Look., Ask.]\n")
    strategy, chain = load(folder, builtin=all_builtin_specs()).behaviours
    if strategy.kind is not BehaviourKind.STRATEGY:
        strategy, chain = chain, strategy
    assert strategy.preloaded and strategy.name == "brief"
    assert (chain.kind, chain.steps, chain.preloaded) == (BehaviourKind.CHAIN, ("Look.", "Ask."), False)


@pytest.mark.parametrize(
    ("path", "text", "line", "what"),
    [
        ("strategies/a.yaml", "wehn: x\ntext: y\n", 1, "wehn"),
        ("chains/a.yaml", "text: y\nwhen: x\n", 1, "steps"),
        ("chains/a.yaml", "text: y\nsteps: [x]\n", 1, "when"),
        ("strategies/A B.yaml", "text: y\n", 1, "is no name"),
        ("other/a.yaml", "text: y\n", 0, "Nothing reads this"),
        ("strategies/a.txt", "text: y\n", 0, "Nothing reads this"),
    ],
)
def test_what_cannot_be_read_is_told(folder: Path, path: str, text: str, line: int, what: str) -> None:
    file = folder / "behavior" / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    told = faults(folder)
    assert any(each[0] == f"behavior/{path}" and each[1] == line and what in each[2] for each in told), told
