"""From signal to product: what was noticed, found out and delivered."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import AwareDatetime, Field

from contracts.base import VERSION_PATTERN, Contract, Json, Name, Sha256, StepId, Text
from contracts.cards import Confidence
from contracts.ids import ExecutionId, FindingId, OrderId, ProductId, SignalId
from contracts.order import Artifact


class Severity(StrEnum):
    """How much a signal matters."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class SignalKind(StrEnum):
    """What a sensor has to say."""

    THRESHOLD = "threshold"
    CLEARED = "cleared"
    NO_DATA = "no_data"
    NOT_ENOUGH_HISTORY = "not_enough_history"
    SENSOR_FAILED = "sensor_failed"
    EVENT = "event"
    """Something happened that a sensor listens for."""


class Signal(Contract):
    """Something a sensor noticed."""

    VERSION: ClassVar[str] = "1.1"
    schema_version: str = Field(default="1.1", pattern=VERSION_PATTERN)

    signal_id: SignalId
    """Its name."""
    organisation: Name
    """Whose signal this is."""
    sensor: Name
    """Who noticed."""
    kind: SignalKind
    """What it says."""
    metric: Name | None = None
    """What was measured."""
    bucket: str | None = None
    """The period, as local time of the organisation: `2013-02-08` or `2013-02-08T17:00`."""
    dimensions: dict[Name, Json] = {}
    """The slice; empty means the whole."""
    value: float | None = None
    """The value; absent means missing, which is not zero."""
    n: int | None = Field(default=None, ge=0)
    """How many rows the value rests on."""
    threshold: str | None = None
    """The condition that held."""
    expected: float | None = None
    """What was usual for the period, where the sensor knows that."""
    low: float | None = None
    """From where on a value is unusually low."""
    high: float | None = None
    """From where on a value is unusually high."""
    severity: Severity = Severity.MEDIUM
    """How much it matters."""
    key: str
    """Signals with the same key inside the window are one."""
    at: AwareDatetime
    """The moment it speaks about, UTC."""


class Finding(Contract):
    """What was found out, with how sure it is."""

    finding_id: FindingId
    """Its name."""
    execution_id: ExecutionId
    """The execution it came from."""
    order_id: OrderId
    """The order it came from."""
    verdict: str
    """The answer in one word of the skill's own vocabulary."""
    statement: Text
    """The answer in a sentence."""
    confidence: Confidence
    """Earned by the statistics."""
    statistics: dict[str, Json] = {}
    """Tests, effect sizes and counts it rests on."""
    sources: tuple[Sha256, ...] = ()
    """Addresses of the data."""


class SourceLink(Contract):
    """Where one number of a product came from."""

    anchor: str
    """The mark in the text."""
    step: str
    """`employee/step`."""
    path: str
    """Path of the value in the step's output."""
    value: Json = None
    """The value as it was computed."""
    query_sha256: Sha256 | None = None
    """Hash of the query or script."""
    data_sha256: Sha256 | None = None
    """Hash of the data it ran on."""
    result_sha256: Sha256
    """Hash of the step's output."""


class DataProduct(Contract):
    """Something delivered: a report, a decision, an insight."""

    product_id: ProductId
    """Its name."""
    execution_id: ExecutionId
    """The execution it came from."""
    order_id: OrderId
    """The order it came from."""
    step: StepId
    """The step that made it."""
    kind: str
    """`report`, `decision`, `insight`."""
    title: Text
    """Its name for people."""
    labels: dict[str, str] = {}
    """What it is about, for finding it by intent."""
    artifacts: tuple[Artifact, ...]
    """The files, the main one first."""
    sources: tuple[SourceLink, ...] = ()
    """Each number's origin."""
    made_at: AwareDatetime
    """UTC."""
