"""Faults of data sources and servers that no other argument would mend.

CapabilityFailed
├── NotInstalled      a library that an extra brings is missing                       (install it)
├── ToolMissing       an MCP server no longer offers a tool                           (correct the connection)
├── PermissionRefused
│   └── ToolChanged   an MCP server's tool is not the version that was declared       (look at it, declare it anew)
├── DataUnavailable   the file is missing, unreadable or not what it should be   (mend the file)
├── DataChanged       the data no longer has the shape its views were written for (mend views or data)
└── NetworkFault
    └── DataLocked    another process writes the file now                        (try again)
"""

from __future__ import annotations

from runtime.errors import CapabilityFailed, NetworkFault, PermissionRefused


class DataUnavailable(CapabilityFailed):
    """The data cannot be opened."""

    code = "DATA_UNAVAILABLE"


class DataChanged(CapabilityFailed):
    """The data lost or renamed something that the connection's own views name."""

    code = "DATA_CHANGED"


class DataLocked(NetworkFault):
    """Another process has the data file open for writing."""

    code = "DATA_LOCKED"


class NotInstalled(CapabilityFailed):
    """A library is missing that an extra of this program brings."""

    code = "NOT_INSTALLED"


class ToolMissing(CapabilityFailed):
    """The MCP server does not offer the tool."""

    code = "TOOL_MISSING"


class ToolChanged(PermissionRefused):
    """The MCP server's tool is another version than the one that was declared and approved."""

    code = "TOOL_CHANGED"
