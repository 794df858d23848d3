"""What the workforce says when employees cannot sit where the settings want them.

SiliconError
├── RayMissing       the extra is not installed                          (install it, or use the inline engine)
├── RayUnavailable   Ray cannot be reached or does not start             (mend it, or use the inline engine)
├── LedgerNotShared  several machines, and a ledger that only one reads  (use a server database)
├── HostNotReady     no host could be opened, in several tries           (mend the node)
├── HostsLost        the hosts of an order died, one after another       (look for what ends them)
└── HostsTooSlow     the hosts of an order live, and lost their leases   (give the machines less to do)
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


class HostsTooSlow(SiliconError):
    """The hosts that had an order in hand were too slow to keep their leases, again and again."""

    code = "HOSTS_TOO_SLOW"


class HostLost(Exception):
    """A host is dead, or its lease has run out; whatever it had in hand goes on elsewhere. Never reaches a person."""


class HostLapsed(HostLost):
    """The lease of a host has run out, and nobody knows that it is dead: it may only be slow."""


class Stopped(Exception):
    """Somebody stopped the order on its host while another waited for it: it is handed over again."""
