"""What can be wrong with a request before it is sent.

SiliconError
├── UnusableSchema     a tool's schema says nothing that could be asked of a model      (mend the tool)
└── CapabilityFailed
    └── InvalidArguments
        └── RequestUnfit   messages that no endpoint takes; carries every fault         (mend the conversation)
"""

from __future__ import annotations

from dataclasses import dataclass

from runtime.errors import InvalidArguments, SiliconError


class UnusableSchema(SiliconError):
    """No request can offer a tool with this schema; the message says why and how to mend it."""

    code = "SCHEMA_UNUSABLE"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with the messages of a request."""

    message: int
    """Which message, from 1; 0 for the conversation as a whole."""
    what: str
    """What is wrong, and how to mend it."""

    def __str__(self) -> str:
        return f"Message {self.message}: {self.what}" if self.message else self.what


class RequestUnfit(InvalidArguments):
    """The messages of a request do not make a conversation that endpoints take; nothing was sent."""

    code = "REQUEST_UNFIT"

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        """Tell all faults at once."""
        told = " ".join(map(str, faults[:20])) + (f" And {len(faults) - 20} more." if len(faults) > 20 else "")
        super().__init__(f"The request was not sent. {told}", faults=len(faults), happened="no")
        self.faults = faults
