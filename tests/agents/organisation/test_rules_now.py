from __future__ import annotations

from pathlib import Path

import pytest

from agents.organisation import RulesNow
from runtime.errors import NotFound, OrganisationFaulty


def test_rules_are_read_again_only_when_a_file_changed(organisation: Path) -> None:
    now = RulesNow(organisation)
    first = now()
    assert now() is first

    (organisation / "rules" / "more.yaml").write_text("text: No.\nallow_when: 'false'\n")

    assert [rule.name for rule in now()] == ["money", "more"]


def test_a_rule_that_cannot_be_read_is_told_each_time_until_it_is_mended(organisation: Path) -> None:
    now, file = RulesNow(organisation), organisation / "rules" / "money.yaml"
    text = file.read_text()
    file.write_text("text: [")
    for _ in range(2):
        with pytest.raises(OrganisationFaulty):
            now()
    file.write_text(text)
    assert [rule.name for rule in now()] == ["money"]


def test_a_folder_that_is_gone_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        RulesNow(tmp_path / "nowhere")()
