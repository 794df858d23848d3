"""What the tests of the faces share: a fake application and the command line around it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog

import console.cli.session as session_module
from console.cli.main import main
from tests.fakes.console_application import FakeApplication


@dataclass
class Silicon:
    """The command line with a fake application behind it."""

    application: FakeApplication
    capsys: pytest.CaptureFixture[str]
    home: Path
    code: int = -1
    out: str = ""
    err: str = ""

    def __call__(self, *arguments: str) -> Silicon:
        """Run one command; `code`, `out` and `err` hold what came of it."""
        self.code = main(arguments)
        self.out, self.err = self.capsys.readouterr()
        return self

    @property
    def json(self) -> Any:
        """The answer as JSON; everything on standard output belongs to it."""
        return json.loads(self.out)


@pytest.fixture
def silicon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Silicon]:
    """A command line with a home of its own."""
    application = FakeApplication()
    monkeypatch.setattr(session_module, "opener", lambda: application)
    monkeypatch.setattr(session_module, "executions_opener", lambda: application)
    monkeypatch.setenv("SILICON_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SILICON_LANGUAGE", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    root = logging.getLogger()
    before = list(root.handlers)
    yield Silicon(application, capsys, tmp_path / "home")
    for handler in [each for each in root.handlers if each not in before]:
        root.removeHandler(handler)
        handler.close()
    structlog.reset_defaults()
