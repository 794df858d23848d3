"""What is known of one request while the SDK is at work on it, which tells neither its status nor whether it left."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from runtime.errors import CapabilityFailed


@dataclass(slots=True)
class Exchange:
    """One request and its answer, as the transport saw them."""

    began: bool = False
    """Whether it began to be sent; only then can the server have acted."""
    expired: bool = False
    """Whether the server said that it does not know the session, so that it surely did not act."""
    fault: CapabilityFailed | None = None
    """Why there is no answer, where the transport knows it better than the SDK's error tells."""


class SessionLost(Exception):
    """The session has ended, the server no longer knows it, or an answer was lost with its connection."""

    def __init__(self, fault: CapabilityFailed) -> None:
        super().__init__(fault.message)
        self.fault = fault


EXCHANGE: ContextVar[Exchange | None] = ContextVar("EXCHANGE", default=None)
"""The request that the task is at. Transports run in the context of whoever sends."""
