"""Where programs of a slot run: drivers, and the small runner they start."""

from cluster.sandbox.bubblewrap import BubblewrapDriver
from cluster.sandbox.choice import driver_for
from cluster.sandbox.port import Lack, SandboxDriver
from cluster.sandbox.rlimits import RlimitsDriver
from cluster.sandbox.slot_sandbox import ProcessSandbox

__all__ = ["BubblewrapDriver", "Lack", "ProcessSandbox", "RlimitsDriver", "SandboxDriver", "driver_for"]
