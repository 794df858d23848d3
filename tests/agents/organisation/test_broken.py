"""Every broken organisation of the corpus is one small change to the good one, with the faults it must give.

A case names a file and either text to replace in it (`old`, `new`), its whole new content (`write`), or its removal
(`delete`). `faults` lists what the report must hold, as `file:line  fragment`; nothing else may be in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents.organisation import check
from runtime.capabilities.port import CapabilitySpec

CORPUS = Path(__file__).parent / "broken"
CASES = [
    pytest.param(case, id=f"{file.stem}-{case['name']}")
    for file in sorted(CORPUS.glob("*.yaml"))
    for case in yaml.safe_load(file.read_text())
]


def break_it(folder: Path, change: Mapping[str, Any]) -> None:
    path = folder / change["file"]
    if change.get("delete"):
        path.unlink()
    elif "write" in change:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(change["write"].encode("latin-1" if change.get("latin") else "utf-8"))
    else:
        text = path.read_text()
        assert text.count(change["old"]) == 1, f"{change['old']!r} is not there exactly once"
        path.write_text(text.replace(change["old"], change["new"]))


@pytest.mark.parametrize("case", CASES)
def test_a_broken_organisation_is_found_with_file_and_line(
    case: dict[str, Any], organisation: Path, builtin: Mapping[str, CapabilitySpec]
) -> None:
    for change in case.get("changes", [case]):
        break_it(organisation, change)

    report = check(organisation, builtin=builtin, environ={})

    told = [f"{fault.file}:{fault.line}  {fault.what} {fault.hint}" for fault in report.faults]
    assert len(told) == len(case["faults"]), report.text()
    for wanted in case["faults"]:
        place, _, words = wanted.partition("  ")
        assert any(line.startswith(f"{place}  ") and words in line for line in told), (wanted, told)


def test_the_corpus_is_large_enough() -> None:
    assert len(CASES) >= 40
