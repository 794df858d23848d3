"""What can go wrong with a model, told by who can help.

SiliconError
├── NetworkFault           it cannot be reached, or asks to wait                      (wait, try again)
├── CapabilityFailed
│   ├── ModelRefused       the endpoint does not take the request                     (read why)
│   └── ModelStalled       it sent no byte for too long                               (look at the endpoint)
└── PermissionRefused
    └── ModelAccessRefused  the key is missing, wrong or may not use the model        (set another key)
"""

from __future__ import annotations

from runtime.errors import CapabilityFailed, PermissionRefused


class ModelRefused(CapabilityFailed):
    """The endpoint does not take the request, and would not take it again."""

    code = "MODEL_REFUSED"


class ModelStalled(CapabilityFailed):
    """The endpoint keeps the connection and sends nothing."""

    code = "LLM_STALLED"


class ModelAccessRefused(PermissionRefused):
    """The endpoint does not let this key use the model."""

    code = "MODEL_ACCESS_REFUSED"
