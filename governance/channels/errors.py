"""Why a message did not arrive.

SiliconError
└── NotDelivered      the other side did not take it, or could not be reached; tried again with backoff
    └── NeverTaken    it said that it never will: the delivery is dead at once
"""

from __future__ import annotations

from runtime.errors import SiliconError


class NotDelivered(SiliconError):
    """The other side did not take the message, or could not be reached."""

    code = "NOT_DELIVERED"


class NeverTaken(NotDelivered):
    """The other side said that it never takes this message."""

    code = "NEVER_TAKEN"
