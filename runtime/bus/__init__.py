"""The event bus: tells subscribers and groups what the ledger committed."""

from runtime.bus.in_process import InProcessBus
from runtime.bus.opening import look_at_redis, open_bus, require_address
from runtime.bus.port import Bus, DeadLetter, Handler

__all__ = ["Bus", "DeadLetter", "Handler", "InProcessBus", "look_at_redis", "open_bus", "require_address"]
