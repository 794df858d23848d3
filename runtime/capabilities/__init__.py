"""What employees can do: one registry, one router, and the capabilities that come along.

Declarations are light; what reaches a database or a service is imported when connections are made (`connected.py`).
"""

from runtime.capabilities.builtin import builtin_capabilities, builtin_specs, connection_specs
from runtime.capabilities.port import (
    CallContext,
    CallResult,
    Capability,
    CapabilitySpec,
    Gate,
    Sandbox,
    Waiting,
)  # fmt: skip
from runtime.capabilities.registry import Registry

__all__ = [
    "CallContext",
    "CallResult",
    "Capability",
    "CapabilitySpec",
    "Gate",
    "Registry",
    "Sandbox",
    "Waiting",
    "builtin_capabilities",
    "builtin_specs",
    "connection_specs",
]
