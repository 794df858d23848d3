"""Settings: groups with their defaults; `runtime.settings.load` reads them from file and environment."""

from runtime.settings.access import AccessSettings
from runtime.settings.alerts import AlertSettings, AttentionSettings
from runtime.settings.channels import ChannelSettings
from runtime.settings.context import ContextSettings
from runtime.settings.group import Group
from runtime.settings.groups import (
    ApprovalSettings,
    BlackboardSettings,
    BrowserSettings,
    BusSettings,
    ClusterSettings,
    DoctorSettings,
    EngineSettings,
    ExecutorSettings,
    FileSettings,
    HttpSettings,
    LedgerSettings,
    LogSettings,
    McpSettings,
    RaySettings,
    RetentionSettings,
    SensorSettings,
    ServerSettings,
    SlotSettings,
    SqlSettings,
    WorkforceSettings,
)
from runtime.settings.heartbeat import HeartbeatSettings
from runtime.settings.memory import MemorySettings
from runtime.settings.models import ModelSettings, SkillSettings

__all__ = [
    "AccessSettings",
    "AlertSettings",
    "ApprovalSettings",
    "AttentionSettings",
    "BlackboardSettings",
    "BrowserSettings",
    "BusSettings",
    "ChannelSettings",
    "ClusterSettings",
    "ContextSettings",
    "DoctorSettings",
    "EngineSettings",
    "ExecutorSettings",
    "FileSettings",
    "Group",
    "HeartbeatSettings",
    "HttpSettings",
    "LedgerSettings",
    "LogSettings",
    "McpSettings",
    "MemorySettings",
    "ModelSettings",
    "RaySettings",
    "RetentionSettings",
    "SensorSettings",
    "ServerSettings",
    "SkillSettings",
    "SlotSettings",
    "SqlSettings",
    "WorkforceSettings",
]
