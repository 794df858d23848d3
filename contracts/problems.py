"""Errors as facts: what went wrong, in which category, and how to mend it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Json


class ErrorCategory(StrEnum):
    """Who can do something about an error. Decided by code; the retry rule follows from it."""

    NETWORK = "network"
    """Passing fault of a connection or service: 3 retries with backoff."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """The caller passed something wrong: back to a model with the error, 2 times."""
    PERMISSION = "permission"
    """Not allowed: never retried; a card or a message to the person."""
    BUSINESS = "business"
    """The world said no: reflect and try another way, once."""
    UNKNOWN = "unknown"
    """Anything else: never retried, fully recorded."""


class Problem(Contract):
    """One error as it travels in reports and events."""

    code: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    """Stable; programs and translations go by it."""
    category: ErrorCategory = ErrorCategory.UNKNOWN
    """Decides whether and how often the step is tried again."""
    message: str
    """What, where, why and how to mend it, in plain English."""
    facts: dict[str, Json] = {}
    """The values named in the message, for translation and for programs."""
