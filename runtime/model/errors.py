"""What can go wrong with a model, told by who can help.

SiliconError
├── NetworkFault           it cannot be reached, or asks to wait                      (wait, try again)
├── CapabilityFailed
│   ├── ModelRefused       the endpoint does not take the request                     (read why)
│   ├── ModelStalled       it sent no byte for too long                               (look at the endpoint)
│   └── ModelAnswerTooLong  it sent more than any answer has, unpacked                (look at the endpoint)
└── PermissionRefused
    └── ModelAccessRefused  the key is missing, wrong or may not use the model        (set another key)
"""

from __future__ import annotations

from runtime.errors import CapabilityFailed, PermissionRefused, SiliconError

NOT_SENT = "not_sent"
"""Fact of a fault before which nothing of the request left this machine."""
HUNG_UP = "hung_up"
"""Fact of a fault in which the other side ended the connection before its answer was whole."""
_NOT_TAKEN_ON = range(300, 500)
"""Status of an endpoint that turned the request away at its door, or sends on: nobody pays for that."""
_PERHAPS = 408
"""But this one may come from something in between that lost its patience, while the model worked."""


class ModelRefused(CapabilityFailed):
    """The endpoint does not take the request, and would not take it again."""

    code = "MODEL_REFUSED"


class ModelStalled(CapabilityFailed):
    """The endpoint keeps the connection and sends nothing."""

    code = "LLM_STALLED"


class ModelAnswerTooLong(CapabilityFailed):
    """The endpoint sends more than any answer has; what came is not looked at, and it is not asked again."""

    code = "ANSWER_TOO_LONG"


class ModelAccessRefused(PermissionRefused):
    """The endpoint does not let this key use the model."""

    code = "MODEL_ACCESS_REFUSED"


def cost_nothing(error: SiliconError) -> bool:
    """Whether the endpoint surely did no work for the request that ended so; anything else may have been charged."""
    status = error.facts.get("status")
    turned_away = isinstance(status, int) and status in _NOT_TAKEN_ON and status != _PERHAPS
    return error.facts.get(NOT_SENT) is True or turned_away
