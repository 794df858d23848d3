"""The execution cluster: how a task reaches a real node and gets done there."""

from cluster.bridge import Bridge, EngineFactory, StepEngine
from cluster.control_plane import ControlPlane, Occupancy
from cluster.evidence import seal, verify
from cluster.gateway import Gateway
from cluster.sandbox import RlimitsDriver, SandboxDriver
from cluster.slot import HeldSlot, Node, this_node

__all__ = [
    "Bridge",
    "ControlPlane",
    "EngineFactory",
    "Gateway",
    "HeldSlot",
    "Node",
    "Occupancy",
    "RlimitsDriver",
    "SandboxDriver",
    "StepEngine",
    "seal",
    "this_node",
    "verify",
]
