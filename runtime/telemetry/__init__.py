"""What the program says about itself: logs with one trace id, and no secret in them.

`runtime.telemetry.logs` starts the log file; it is not imported here, so that redaction costs no import of structlog.
"""

from runtime.telemetry.context import bound_facts, working_on
from runtime.telemetry.redaction import redact, register

__all__ = ["bound_facts", "redact", "register", "working_on"]
