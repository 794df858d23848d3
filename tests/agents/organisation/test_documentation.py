"""The examples of docs/organisation-folder.md, put together, are an organisation without faults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from agents.organisation import check
from runtime.capabilities.port import CapabilitySpec

DOCUMENT = Path(__file__).parents[3] / "docs" / "organisation-folder.md"
SKILL = "skills/explain-cancellations"
FILES = (
    "org.yaml",
    "connections.yaml",
    f"{SKILL}/SKILL.md",
    f"{SKILL}/plan.yaml",
    f"{SKILL}/options.yaml",
    "metrics/cancel-rate.yaml",
    "sensors/cancellations.yaml",
    "sensors/morning-report.yaml",
    "sensors/failed-runs.yaml",
    "rules/money.yaml",
    "alerts.yaml",
)
NEEDED = ("data/flights.duckdb", "known.sql", "desk/service.py", f"{SKILL}/cancel_rate.sql", f"{SKILL}/attribute.py")


def test_the_documented_organisation_has_no_faults(tmp_path: Path, builtin: Mapping[str, CapabilitySpec]) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    contents = dict(zip(FILES, blocks, strict=True)) | dict.fromkeys(NEEDED, "")
    contents[f"{SKILL}/SKILL.md"] = f"---\n{contents[f'{SKILL}/SKILL.md']}---\n"
    for name, text in contents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    assert check(tmp_path, builtin=builtin, environ={}).text() == "No faults."
