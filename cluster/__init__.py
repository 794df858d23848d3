"""The execution cluster: how a task reaches a real node and gets done there."""

from cluster.bridge import Bridge
from cluster.control_plane import Closed, ControlPlane, Occupancy, open_control_plane
from cluster.engines import EngineFactory, Engines, StepEngine
from cluster.evidence import seal, verify
from cluster.gateway import Gateway
from cluster.sandbox import RlimitsDriver, SandboxDriver, driver_for
from cluster.slot import HeldSlot, Node, this_node

__all__ = [
    "Bridge",
    "Closed",
    "ControlPlane",
    "EngineFactory",
    "Engines",
    "Gateway",
    "HeldSlot",
    "Node",
    "Occupancy",
    "RlimitsDriver",
    "SandboxDriver",
    "StepEngine",
    "driver_for",
    "open_control_plane",
    "seal",
    "this_node",
    "verify",
]
