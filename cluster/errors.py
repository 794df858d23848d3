"""What the cluster says when it cannot do an order.

SiliconError
├── NoSlotFree   every slot was taken for too long         (wait, or give the node more slots)
├── NoNodeFits   no node offers what the order needs       (change labels, or add a node)
└── SlotLost     the lease ran out while an order ran      (go on in another slot)
"""

from __future__ import annotations

from contracts import ErrorCategory
from runtime.errors import SiliconError


class NoSlotFree(SiliconError):
    """Every slot was taken for too long."""

    code = "NO_SLOT_FREE"
    category = ErrorCategory.NETWORK


class NoNodeFits(SiliconError):
    """No node offers what the order needs."""

    code = "NO_NODE_FITS"


class SlotLost(SiliconError):
    """The lease of a slot ran out, or went to somebody else, while an order ran in it."""

    code = "SLOT_LOST"
    category = ErrorCategory.NETWORK
