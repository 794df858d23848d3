"""What the cluster says when it cannot do an order.

SiliconError
├── NoSlotFree     nothing that fits became free for too long   (wait, or give the node more slots)
├── NoNodeFits     no node offers what the order needs          (change labels, or add a node)
├── QueueFull      too many orders wait                         (come again later)
├── SlotLost       the lease ran out while an order ran         (go on in another slot)
└── SandboxBroken  a program could not be confined here         (mend the node: `silicon doctor`)
"""

from __future__ import annotations

from contracts import ErrorCategory
from runtime.errors import CapabilityFailed, SiliconError


class NoSlotFree(SiliconError):
    """Nothing that fits became free for too long."""

    code = "NO_SLOT_FREE"
    category = ErrorCategory.NETWORK


class NoNodeFits(SiliconError):
    """No node offers what the order needs."""

    code = "NO_NODE_FITS"


class QueueFull(SiliconError):
    """So many orders wait for a slot that no more are taken in."""

    code = "QUEUE_FULL"
    category = ErrorCategory.NETWORK


class SlotLost(SiliconError):
    """The lease of a slot ran out, or went to somebody else, while an order ran in it."""

    code = "SLOT_LOST"
    category = ErrorCategory.NETWORK


class SandboxBroken(CapabilityFailed):
    """A program did not run, because the sandbox of the slot could not be set up around it."""

    code = "SANDBOX_BROKEN"
