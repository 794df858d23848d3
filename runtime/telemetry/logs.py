"""JSON logs: one object a line, in one file that is rotated by size, with no secret in it."""

from __future__ import annotations

import logging
import logging.handlers
from pathlib import Path
from typing import Any

from runtime.settings.groups import LogSettings
from runtime.settings.home import make_home

FILE = "log.jsonl"
_NAMES = ("contracts", "runtime", "memory", "governance", "agents", "cluster", "console")


def log_file(settings: LogSettings, home: Path) -> Path:
    """Return where the log is written."""
    return Path(settings.file).expanduser() if settings.file else home / FILE


def start_logs(settings: LogSettings, home: Path) -> Path:
    """Send the logs of the standard library to the log file; return its path.

    The file is opened with the first line. Calling it again moves the logs to the new place. Where the file cannot be
    written the line is dropped: a log must not stop the work it tells about.
    """
    path = log_file(settings, home)
    handler = _QuietFile(path, maxBytes=settings.file_mib * 1024 * 1024, backupCount=settings.files, delay=True)
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, _QuietFile)]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for name in _NAMES:
        logging.getLogger(name).setLevel(settings.level)
    return path


class _QuietFile(logging.handlers.RotatingFileHandler):
    """A log file that makes its folder when it is first written and never prints about itself."""

    def _open(self) -> Any:
        make_home(Path(self.baseFilename).parent)
        return super()._open()

    def format(self, record: logging.LogRecord) -> str:
        from runtime.telemetry.log_lines import FORMATTER

        return FORMATTER.format(record)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Drop the line."""
