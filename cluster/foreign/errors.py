"""What the gateway says to a bridge that speaks HTTP.

BusinessRefusal
├── BridgeReplaced    the session is over: the node was registered anew, or was lost   (register again)
├── StaleBridge       the slot is somebody else's now                                  (stop, forget the order)
└── CallSettled       the call is not to be carried out, or has another hash           (ask what is next)
PermissionRefused
└── BeyondRights      the token is not for those labels                                (another token)
"""

from __future__ import annotations

from runtime.errors import BusinessRefusal, PermissionRefused


class BridgeReplaced(BusinessRefusal):
    """The session is over: the node was registered anew, has left or was lost."""

    code = "BRIDGE_REPLACED"


class StaleBridge(BusinessRefusal):
    """The order is no longer the bridge's own: its slot was lost or given back."""

    code = "STALE_BRIDGE"


class CallSettled(BusinessRefusal):
    """Nothing more can be said about the call."""

    code = "CALL_SETTLED"


class BeyondRights(PermissionRefused):
    """The token does not reach so far."""

    code = "BEYOND_RIGHTS"
