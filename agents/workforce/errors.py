"""What the workforce says when employees cannot sit where the settings want them.

SiliconError
├── RayMissing       the extra is not installed                          (install it, or use the inline engine)
├── RayUnavailable   Ray cannot be reached or does not start             (mend it, or use the inline engine)
├── LedgerNotShared  several machines, and a ledger that only one reads  (use a server database)
├── HostNotReady     a host could not be opened on its node              (mend the node)
└── HostsLost        the hosts of an order died, one after another       (look for what ends them)
"""

from __future__ import annotations

from contracts import ErrorCategory
from runtime.errors import SiliconError


class RayMissing(SiliconError):
    """Ray is asked for and not installed."""

    code = "RAY_MISSING"


class RayUnavailable(SiliconError):
    """Ray cannot be reached, or does not start."""

    code = "RAY_UNAVAILABLE"
    category = ErrorCategory.NETWORK


class LedgerNotShared(SiliconError):
    """Ray spans several machines, and the ledger is a file on one of them."""

    code = "LEDGER_NOT_SHARED"


class HostNotReady(SiliconError):
    """A host did not open."""

    code = "HOST_NOT_READY"


class HostsLost(SiliconError):
    """The hosts that had an order in hand died, one after another."""

    code = "HOSTS_LOST"


class HostLost(Exception):
    """A host is dead, or its lease has run out; whatever it had in hand goes on elsewhere. Never reaches a person."""


class Stopped(Exception):
    """Somebody stopped the order on its host while another waited for it: it is handed over again."""
