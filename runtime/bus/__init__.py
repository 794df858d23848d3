"""The event bus: tells subscribers what the ledger committed."""

from runtime.bus.in_process import InProcessBus
from runtime.bus.port import Bus

__all__ = ["Bus", "InProcessBus"]
