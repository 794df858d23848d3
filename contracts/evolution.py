"""How agents change: releases, their certificates, and patches."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from contracts.base import Contract, Json, Name, Sha256, Text
from contracts.ids import CertificateId, PatchId, ReleaseId


class ReleaseStage(StrEnum):
    """Where a release stands in its life."""

    CANDIDATE = "candidate"
    SHADOW = "shadow"
    PROBATION = "probation"
    ACTIVE = "active"
    DEGRADED = "degraded"
    RETRAIN = "retrain"
    OFFBOARD = "offboard"


class AgentRelease(Contract):
    """One exact version of an employee: everything people wrote, hashed."""

    release_id: ReleaseId
    """Its name."""
    organisation: Name
    """Whose employee."""
    employee: Name
    """Which employee."""
    stage: ReleaseStage
    """Where it stands."""
    content_sha256: Sha256
    """Over prompt, skills, plans, tools, memory scope, model and settings."""
    parts: dict[str, Sha256]
    """Part → hash."""
    rollout_percent: int = Field(default=0, ge=0, le=100)
    """Share of orders it gets."""
    made_at: AwareDatetime
    """UTC."""


class Certificate(Contract):
    """Proof that a release passed its evals and a person looked."""

    certificate_id: CertificateId
    """Its name."""
    release_id: ReleaseId
    """What it certifies."""
    content_sha256: Sha256
    """The exact content; any change voids the certificate."""
    accuracy: float = Field(ge=0, le=1)
    """Share of cases right."""
    coverage: float = Field(ge=0, le=1)
    """Share of skills and branches exercised."""
    cases: int = Field(ge=0)
    """How many cases ran."""
    checked_by: Name
    """The person who took the sample."""
    issued_at: AwareDatetime
    """UTC."""
    expires_at: AwareDatetime
    """UTC; 90 days after it was issued."""


class PatchType(StrEnum):
    """What a patch changes, and with it who may let it through."""

    POLICY = "policy"
    STRATEGY = "strategy"
    CHAIN = "chain"
    EXECUTION = "execution"


class PatchState(StrEnum):
    """Where a patch stands."""

    DRAFT = "draft"
    SHADOW = "shadow"
    REVIEW_REQUIRED = "review_required"
    ACTIVE = "active"
    EXPIRED = "expired"
    REVERTED = "reverted"


class Patch(Contract):
    """A proposed change to an agent, in a form that code can apply and take back."""

    patch_id: PatchId
    """Its name."""
    organisation: Name
    """Whose agents."""
    type: PatchType
    """What it changes."""
    state: PatchState
    """Where it stands."""
    scope: dict[str, Name]
    """Employee, skill or domain it holds for."""
    change: dict[str, Json]
    """The change itself."""
    trigger: str
    """When it applies: an expression."""
    why: Text
    """The cause it answers."""
    confidence: float = Field(ge=0, le=1)
    """How sure its maker is."""
    hits: int = Field(default=0, ge=0)
    """How often it applied."""
    successes: int = Field(default=0, ge=0)
    """How often that went well."""
    made_at: AwareDatetime
    """UTC."""
