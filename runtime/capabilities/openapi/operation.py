"""An operation that a document tells, ready to be called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from contracts import Json, Parameter, Sha256
from runtime.capabilities.connections import Operation

Where: TypeAlias = Literal["path", "query", "header", "body", "whole body"]


@dataclass(frozen=True, slots=True)
class Carried:
    """How one argument travels."""

    where: Where
    name: str
    """As the service calls it."""
    joined: bool = False
    """Whether a list in the query is one text with commas; else each item is a pair of its own."""


class DocumentedOperation(Operation):
    """An operation made from a document; no file of an organisation can hold one."""

    parameters: dict[str, Parameter]
    """Arguments. Their names are those of the service as far as those can be names here."""
    carried: dict[str, Carried]
    """Argument → how it travels."""
    has_body: bool
    """Whether a body is sent even when no argument goes into it."""
    takes_key: bool
    """Whether the document says that the service takes an `Idempotency-Key`."""
    takes: dict[str, Json]
    """JSON Schema of the arguments."""
    sha256: Sha256
    """Hash of the operation as the document has it, with all that it refers to."""
