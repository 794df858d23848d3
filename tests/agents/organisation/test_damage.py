"""Whatever is damaged, the answer is a list of faults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.organisation import check
from runtime.capabilities.port import CapabilitySpec

FILES = sorted(
    str(path.relative_to(Path(__file__).parent / "good"))
    for path in (Path(__file__).parent / "good").rglob("*")
    if path.suffix in (".yaml", ".md")
)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_line_or_an_empty_value_gives_faults_and_no_crash(
    name: str, organisation: Path, builtin: Mapping[str, CapabilitySpec]
) -> None:
    file = organisation / name
    lines = file.read_text().splitlines()
    for number, line in enumerate(lines):
        for damaged in ([], [f"{line.partition(':')[0]}: []"]):
            file.write_text("\n".join([*lines[:number], *damaged, *lines[number + 1 :]]))

            report = check(organisation, builtin=builtin, environ={})

            assert all(fault.what and fault.line >= 0 for fault in report.faults)
