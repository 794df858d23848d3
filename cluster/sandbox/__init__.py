"""Where programs of a slot run: drivers, and the small runner they start."""

from cluster.sandbox.port import SandboxDriver
from cluster.sandbox.rlimits import RlimitsDriver, RlimitsSandbox

__all__ = ["RlimitsDriver", "RlimitsSandbox", "SandboxDriver"]
