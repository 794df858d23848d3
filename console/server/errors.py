"""Why a server does not start, or ends by itself.

SiliconError
├── ServerRunning   another server has this embedded ledger            (use it, or stop it)
├── AddressInUse    nothing can listen where the settings say          (choose another port)
├── NodeOffered     another process offers the node otherwise          (give this one a folder)
└── LedgerReplaced  another ledger stands where the server's was       (start it again)
"""

from __future__ import annotations

from runtime.errors import SiliconError


class ServerRunning(SiliconError):
    """Another server works on this embedded ledger."""

    code = "SERVER_RUNNING"


class AddressInUse(SiliconError):
    """The address cannot be listened on."""

    code = "ADDRESS_IN_USE"


class NodeOffered(SiliconError):
    """Another process offers the same node, with other slots or labels."""

    code = "NODE_OFFERED"


class LedgerReplaced(SiliconError):
    """Another ledger, or none, stands where the one was with which the server was started."""

    code = "LEDGER_REPLACED"
