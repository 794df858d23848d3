"""Logs are JSON lines that carry one trace id and no secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.settings.groups import LogSettings
from runtime.telemetry.context import working_on
from runtime.telemetry.logs import start_logs


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """A log file of its own, put back afterwards."""
    root = logging.getLogger()
    before = list(root.handlers)
    yield start_logs(LogSettings(level="INFO"), tmp_path / "home")
    for handler in [each for each in root.handlers if each not in before]:
        root.removeHandler(handler)
        handler.close()


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_nothing_is_created_before_the_first_line(log: Path) -> None:
    assert not log.parent.exists()


def test_a_line_carries_the_facts_of_the_work_in_progress(log: Path) -> None:
    with working_on(trace_id="t1", execution="execution/1"), working_on(step="measure"):
        logging.getLogger("runtime.engine").info("step finished", extra={"seconds": 0.5})

    (line,) = lines(log)
    assert line["event"] == "step finished"
    assert (line["trace_id"], line["execution"], line["step"], line["seconds"]) == ("t1", "execution/1", "measure", 0.5)
    assert line["level"] == "info"
    assert line["time"].endswith("Z")


def test_the_standard_librarys_logs_go_the_same_way(log: Path) -> None:
    with working_on(trace_id="t2"):
        logging.getLogger("runtime.ledger").warning("locked by %s", "another", extra={"password": "hunter22"})

    (line,) = lines(log)
    assert (line["event"], line["trace_id"], line["password"]) == ("locked by another", "t2", "[redacted]")


def test_a_traceback_is_kept_without_the_secrets_in_it(log: Path) -> None:
    try:
        raise RuntimeError("cannot reach mysql://root:hunter22@db/x")
    except RuntimeError:
        logging.getLogger("console").exception("unexpected")

    (line,) = lines(log)
    assert "Traceback" in line["exception"]
    assert "hunter22" not in json.dumps(line)


def test_lines_below_the_level_are_not_written(log: Path) -> None:
    logging.getLogger("runtime.x").debug("quiet")

    assert not log.exists()


def test_the_file_is_put_aside_when_it_is_full(tmp_path: Path, log: Path) -> None:
    path = start_logs(LogSettings(level="INFO", file_mib=1, files=1), tmp_path / "small")
    for number in range(12):
        logging.getLogger("runtime.x").info("line", extra={"number": number, "text": "x" * 100_000})

    assert path.with_name("log.jsonl.1").exists()
    assert path.stat().st_size < 1024 * 1024


def test_a_log_that_cannot_be_written_does_not_stop_the_work(tmp_path: Path, log: Path) -> None:
    (tmp_path / "file").write_text("")
    start_logs(LogSettings(file=str(tmp_path / "file" / "log.jsonl")), tmp_path)

    logging.getLogger("runtime.x").warning("lost")
