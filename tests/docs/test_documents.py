"""Every command and snippet of the documentation is run as a reader would run it.

A block of the language `console` holds commands (`$ …`) and the output a reader will see below them. Each document is
read from top to bottom in one empty folder with its own state; `…` in the output stands for anything, ids may differ.
A command ends with 0 or 3 unless the line below it says `# exits N`. Blocks of the languages `yaml` and `json` have to
parse, blocks of the language `python` have to run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.examples.conftest import Desk
from tests.silicon import warm_silicon

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    {ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")}
)
SHOWING = [each for each in DOCUMENTS if re.search(r"^```console$", each.read_text(), re.M)]


def name_of(document: Path) -> str:
    return str(document.relative_to(ROOT))


BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


@dataclass
class Command:
    line: str
    output: list[str] = field(default_factory=list)
    exits: set[int] = field(default_factory=lambda: {0, 3})


def blocks(document: Path, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(document.read_text()) if name == language]


def commands(block: str) -> list[Command]:
    found: list[Command] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:]))
        elif match := re.fullmatch(r"# exits (\d+)", line):
            found[-1].exits = {int(match[1])}
        elif found and line.strip():
            found[-1].output.append(line)
    return found


def shows(printed: str, line: str) -> bool:
    pattern = re.escape(ULID.sub("@ULID@", line.strip())).replace("…", ".*").replace("@ULID@", ULID.pattern)
    pattern = re.sub(r"(\\ )+", r"\\s+", pattern)
    return re.search(pattern, printed) is not None


@pytest.mark.timeout(300)
@pytest.mark.parametrize("document", SHOWING, ids=name_of)
def test_every_documented_command_does_what_the_document_shows(
    document: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / ".silicon").mkdir(mode=0o700)  # or a home folder that lies anywhere above would be taken
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("SILICON_", "OPENAI_"))}
    env = {
        **keep,
        "PATH": f"{Path(warm_silicon()).parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "120",
        "LANG": "C.UTF-8",
    }
    request.addfinalizer(Desk(tmp_path, env).stop_services)
    variables: dict[str, str] = {}
    for block in blocks(document, "console"):
        for command in commands(block):
            line = ULID.sub(lambda match: variables.get(match[0], match[0]), command.line)
            ran = subprocess.run(
                ["bash", "-c", line],
                cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
            printed = ran.stdout + ran.stderr
            assert ran.returncode in command.exits, f"$ {line}\n{printed}"
            for expected in command.output:
                assert shows(printed, expected), f"$ {line}\nshould print: {expected}\nbut printed:\n{printed}"
                _remember_ids(expected, printed, variables)


def _remember_ids(expected: str, printed: str, variables: dict[str, str]) -> None:
    """An id in a document stands for the one that was printed in its place."""
    for documented in ULID.finditer(expected):
        before = (expected[: documented.start()].split() or [""])[-1]
        found = re.search(re.escape(before) + f"({ULID.pattern})", printed)
        if found:
            variables[documented[0]] = found[1]


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_snippet_parses(document: Path) -> None:
    for body in blocks(document, "yaml"):
        list(yaml.safe_load_all(body))
    for body in blocks(document, "json"):
        json.loads(body)
    for body in blocks(document, "python"):
        subprocess.run([sys.executable, "-c", body], cwd=ROOT, check=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", BLOCK.sub("", document.read_text()))

    assert [link for link in links if not (document.parent / link).exists()] == []
