"""JSON logs: one object a line, in one file that is rotated by size, with no secret in it."""

from __future__ import annotations

import logging
import logging.handlers
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

from runtime.canonical import clean
from runtime.settings.groups import LogSettings
from runtime.settings.home import make_home
from runtime.telemetry.context import bound_facts
from runtime.telemetry.redaction import redact

FILE = "log.jsonl"
_NAMES = ("contracts", "runtime", "memory", "governance", "agents", "cluster", "console")


def log_file(settings: LogSettings, home: Path) -> Path:
    """Return where the log is written."""
    return Path(settings.file).expanduser() if settings.file else home / FILE


def start_logs(settings: LogSettings, home: Path) -> Path:
    """Send the logs of structlog and of the standard library to the log file; return its path.

    The file is opened with the first line. Calling it again moves the logs to the new place. Where the file cannot be
    written the line is dropped: a log must not stop the work it tells about.
    """
    path = log_file(settings, home)
    handler = _QuietFile(path, maxBytes=settings.file_mib * 1024 * 1024, backupCount=settings.files, delay=True)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=_CHAIN, foreign_pre_chain=_BEFORE))
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, _QuietFile)]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for name in _NAMES:
        logging.getLogger(name).setLevel(settings.level)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_BEFORE,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    return path


class _QuietFile(logging.handlers.RotatingFileHandler):
    """A log file that makes its folder when it is first written and never prints about itself."""

    def _open(self) -> Any:
        make_home(Path(self.baseFilename).parent)
        return super()._open()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Drop the line."""


def _add_facts(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in bound_facts().items():
        line.setdefault(name, value)
    return line


def _without_secrets(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    cleaned = clean({name: value for name, value in line.items() if not name.startswith("_")})
    kept: MutableMapping[str, Any] = redact(cleaned)
    return kept


_BEFORE: list[structlog.typing.Processor] = [
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    structlog.stdlib.ExtraAdder(),
    _add_facts,
    structlog.processors.format_exc_info,
]
_CHAIN: list[structlog.typing.Processor] = [
    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
    _without_secrets,
    structlog.processors.JSONRenderer(ensure_ascii=False),
]
