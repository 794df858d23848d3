"""Settings: groups with their defaults; `runtime.settings.load` reads them from file and environment."""

from runtime.settings.groups import (
    ApprovalSettings,
    BlackboardSettings,
    EngineSettings,
    ExecutorSettings,
    Group,
    HttpSettings,
    LedgerSettings,
    LogSettings,
    ModelSettings,
    SensorSettings,
    SlotSettings,
    SqlSettings,
)

__all__ = [
    "ApprovalSettings",
    "BlackboardSettings",
    "EngineSettings",
    "ExecutorSettings",
    "Group",
    "HttpSettings",
    "LedgerSettings",
    "LogSettings",
    "ModelSettings",
    "SensorSettings",
    "SlotSettings",
    "SqlSettings",
]
