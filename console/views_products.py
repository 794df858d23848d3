"""What the faces show of data products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts import CardId, DataProduct, ExecutionId, Name, ProductId


@dataclass(frozen=True, slots=True)
class ProductRow:
    """One product."""

    product: DataProduct
    key: str
    employee: Name
    intent: str
    """What its order was to do."""
    text: str
    """What it says, as far as it is searched."""


@dataclass(frozen=True, slots=True)
class ProductHit:
    """One that a search found, and why."""

    row: ProductRow
    score: float
    parts: Mapping[str, float]
    terms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ProductDetail:
    """One product with the others of its key."""

    row: ProductRow
    versions: Sequence[ProductId]
    """Everything under its key, oldest first."""
    content: str | None
    """Its main file, where that is text."""


@dataclass(frozen=True, slots=True)
class LineageNode:
    """One step of a lineage."""

    id: str
    employee: Name
    step: str
    use: str
    output_sha256: str
    query_sha256: str
    data_sha256: str
    metric: str
    metric_version: str
    deliveries: Sequence[ProductId]
    card: CardId | None


@dataclass(frozen=True, slots=True)
class ProductLineage:
    """Where a product came from, and what came of it."""

    product_id: ProductId
    execution_id: ExecutionId
    goal: str
    organisation_sha256: str
    skill: str
    plan_sha256: str
    made_in: LineageNode
    upstream: Sequence[LineageNode]
    downstream: Sequence[LineageNode]
    edges: Sequence[tuple[str, str]]
    picture: bytes | None = None
    """SVG, where it was asked for."""
