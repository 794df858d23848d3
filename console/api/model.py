"""What every model of the HTTP API has in common, and the form of an error."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from contracts import Json


class ApiModel(BaseModel):
    """A value that crosses the API: closed to unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False, populate_by_name=True
    )


class FieldFault(ApiModel):
    """One fault of a request."""

    at: str
    """Where: `body/goal`, `query limit`, `header last-event-id`."""
    detail: str
    """What is wrong there."""


class ProblemDetails(ApiModel):
    """An error (RFC 9457)."""

    type: str = Field(examples=["urn:silicon-org:problem:not-found"])
    """Names the kind of problem."""
    title: str
    """The kind of problem in words."""
    status: int = Field(ge=400, le=599)
    """The HTTP status."""
    detail: str
    """What, where, why and how to mend it."""
    code: str = Field(examples=["NOT_FOUND"])
    """Stable; programs go by it."""
    facts: dict[str, Json] = {}
    """The values named in the detail."""
    errors: tuple[FieldFault, ...] = ()
    """Every fault of the request, where it does not fit."""
