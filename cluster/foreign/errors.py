"""What the gateway says to a bridge that speaks HTTP.

BusinessRefusal
├── BridgeReplaced    another process serves the node now                      (stop)
├── SessionOver       the node left, or was silent for too long                (register again)
├── StaleBridge       the slot is somebody else's now                          (stop, forget the order)
└── CallSettled       the call is not to be carried out, or has another hash   (ask what is next)
PermissionRefused
└── BeyondRights      the token is not for those labels                        (another token)
"""

from __future__ import annotations

from runtime.errors import BusinessRefusal, PermissionRefused


class BridgeReplaced(BusinessRefusal):
    """The node was registered anew, so that this session is over."""

    code = "BRIDGE_REPLACED"


class SessionOver(BusinessRefusal):
    """The node left, or was silent for so long that it was lost."""

    code = "SESSION_OVER"


class StaleBridge(BusinessRefusal):
    """The order is no longer the bridge's own: its slot was lost or given back."""

    code = "STALE_BRIDGE"


class CallSettled(BusinessRefusal):
    """Nothing more can be said about the call."""

    code = "CALL_SETTLED"


class BeyondRights(PermissionRefused):
    """The token does not reach so far."""

    code = "BEYOND_RIGHTS"
