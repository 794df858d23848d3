"""Faults of data sources that no other argument would mend.

CapabilityFailed
├── DataUnavailable   the file is missing, unreadable or not what it should be   (mend the file)
├── DataChanged       the data no longer has the shape its views were written for (mend views or data)
└── NetworkFault
    └── DataLocked    another process writes the file now                        (try again)
"""

from __future__ import annotations

from runtime.errors import CapabilityFailed, NetworkFault


class DataUnavailable(CapabilityFailed):
    """The data cannot be opened."""

    code = "DATA_UNAVAILABLE"


class DataChanged(CapabilityFailed):
    """The data lost or renamed something that the connection's own views name."""

    code = "DATA_CHANGED"


class DataLocked(NetworkFault):
    """Another process has the data file open for writing."""

    code = "DATA_LOCKED"
