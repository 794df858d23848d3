from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.organisation import Organisation, load
from runtime.capabilities.port import CapabilitySpec

PACKS = "packs:\n  notices: [desk.notify, desk.waive]\n  all: [notices, flights.query]\nhead:\n  id: head\n"
PLAN = """parameters: {day: date}
steps:
  - id: count
    react: Count the flights of the day.
    tools: TOOLS
    gives: {n: integer}
"""


def with_packs(folder: Path, *, can: str, tools: str = "[flights.query]") -> None:
    org = folder / "org.yaml"
    text = org.read_text().replace("head:\n  id: head\n", PACKS)
    org.write_text(text.replace("can: [flights.query, python]", f"can: {can}"))
    (folder / "skills/count-flights/plan.yaml").write_text(PLAN.replace("TOOLS", tools))


@pytest.fixture
def read(organisation: Path, builtin: Mapping[str, CapabilitySpec]) -> Organisation:
    with_packs(organisation, can="[python, all]", tools="[notices, flights.query, all]")
    return load(organisation, builtin=builtin, environ={})


def test_a_pack_in_can_is_what_it_stands_for(read: Organisation) -> None:
    assert read.employees["analyst"].can == ("python", "desk.notify", "desk.waive", "flights.query")


def test_a_pack_in_tools_is_put_out_and_names_nothing_twice(read: Organisation) -> None:
    assert read.skills["count-flights"].plan.steps[0].tools == ("desk.notify", "desk.waive", "flights.query")


@pytest.mark.parametrize(
    ("can", "tools"),
    [
        ("[flights.query, python]", ("flights.query",)),
        ("[flights.query, python, desk.waive]", ("desk.waive", "flights.query")),
    ],
)
def test_a_pack_in_tools_gives_no_more_than_the_employee_can(
    organisation: Path, builtin: Mapping[str, CapabilitySpec], can: str, tools: tuple[str, ...]
) -> None:
    with_packs(organisation, can=can, tools="[all]")

    plan = load(organisation, builtin=builtin, environ={}).skills["count-flights"].plan

    assert plan.steps[0].tools == tools


def test_one_pack_alone_needs_no_list(organisation: Path, builtin: Mapping[str, CapabilitySpec]) -> None:
    with_packs(organisation, can="[python, flights.query]\n          manages: [{id: clerk, can: notices}]")

    assert load(organisation, builtin=builtin, environ={}).employees["clerk"].can == ("desk.notify", "desk.waive")
