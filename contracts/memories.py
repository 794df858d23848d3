"""What an organisation remembers: one record each, which may be corrected but never silently changed."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from contracts.base import Contract, Name
from contracts.ids import ExecutionId, MemoryId, OrderId


class MemoryKind(StrEnum):
    """What a memory is."""

    WORKING = "working"
    """Of this conversation only."""
    EPISODIC = "episodic"
    """What happened."""
    SEMANTIC = "semantic"
    """Facts and preferences."""
    PROCEDURAL = "procedural"
    """What works."""


class MemoryClass(StrEnum):
    """How fast a memory fades where nobody reads it."""

    RULE = "rule"
    """Never: it must hold until a person takes it back."""
    FACT = "fact"
    """Not by age; a newer fact may supersede it."""
    PREFERENCE = "preference"
    """Half of its importance in 90 days."""
    DECISION = "decision"
    """Not by age; only a person replaces it."""
    TASK = "task"
    """Half of its importance in 7 days."""
    SESSION = "session"
    """Not at all while its conversation goes on, and wholly when that ends."""
    OTHER = "other"
    """To 0.9 of its importance each day."""


class HolderKind(StrEnum):
    """Who remembers."""

    PERSON = "person"
    AGENT = "agent"
    BUSINESS = "business"


class MemoryHolder(Contract):
    """Whose memory it is: nobody else's prompt ever holds it, unless it is the business's."""

    kind: HolderKind
    """What the holder is."""
    name: str = Field(min_length=1, max_length=200)
    """Id of the person, name of the employee, or name of the organisation."""


class MemorySource(Contract):
    """Where a memory comes from, so that it can be looked up and judged."""

    position: int | None = Field(default=None, ge=1)
    """Position in the ledger of the event that gave it; absent where it was written down outside of any."""
    conversation: str | None = Field(default=None, max_length=200)
    """The conversation it was said in."""
    turn: int | None = Field(default=None, ge=1)
    """Which turn of it."""
    execution_id: ExecutionId | None = None
    """The execution it comes from."""
    order_id: OrderId | None = None
    """The order it comes from."""
    said_by: str | None = Field(default=None, max_length=200)
    """The person who wrote it down by hand."""
    file: str | None = Field(default=None, max_length=500)
    """The file, below the organisation's memory folder, in which they did."""


class MemoryState(StrEnum):
    """Where a memory stands in its life."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    """Something newer holds in its place; kept and linked, never recalled as current."""
    DISPUTED = "disputed"
    """It contradicts what weighs more, or a decision, and waits for a person; not recalled."""
    ARCHIVED = "archived"
    """It faded; can be restored."""
    WITHDRAWN = "withdrawn"
    """Taken back by a person; can be restored."""
    ERASED = "erased"
    """Its words are gone for good."""


class MemoryRecord(Contract):
    """One thing that is remembered, as its newest version says it."""

    memory_id: MemoryId
    """Its name."""
    version: int = Field(ge=1)
    """Grows by one with each change of what it says."""
    organisation: Name
    """Who remembers it."""
    kind: MemoryKind
    """What it is."""
    memory_class: MemoryClass
    """How fast it fades."""
    holder: MemoryHolder
    """Whose it is."""
    text: str = Field(min_length=1, max_length=4_000)
    """What is remembered, in one or two sentences that stand alone."""
    subject: str | None = Field(default=None, max_length=200)
    """What it is about, as far as that is known: with `relation` what another memory may contradict."""
    relation: str | None = Field(default=None, max_length=200)
    """What of the subject it tells."""
    value: str | None = Field(default=None, max_length=1_000)
    """What it says of that."""
    domain: Name | None = None
    """Business domain; knowledge of one never gets into another. Absent: of no domain, so that all may use it."""
    project: Name | None = None
    """Domain or process whose project memory it belongs to."""
    session: str | None = Field(default=None, max_length=200)
    """The conversation it belongs to; for working memories."""
    intent: str | None = Field(default=None, max_length=200)
    """What was wanted when it was learnt."""
    entities: tuple[str, ...] = ()
    """Names in it by which it can be found."""
    importance: float = Field(ge=0, le=1)
    """When it was last read or written; from then on it fades."""
    confidence: float = Field(default=0.5, ge=0, le=1)
    """How sure it is; grows when it is cited or said again."""
    source: MemorySource = MemorySource()
    """Where it comes from."""
    valid_from: AwareDatetime
    """UTC; from when on it holds."""
    valid_until: AwareDatetime | None = None
    """UTC; until when it held."""
    state: MemoryState = MemoryState.ACTIVE
    """Where it stands."""
    supersedes: MemoryId | None = None
    """The one in whose place it holds."""
    disputes: MemoryId | None = None
    """The one that it contradicts, while it is disputed."""
    superseded_by: MemoryId | None = None
    """The one that holds in its place."""
    created_at: AwareDatetime
    """UTC."""
    changed_at: AwareDatetime
    """UTC; when this version was written."""
    accessed_at: AwareDatetime
    """UTC; when it was last read through a search, or written."""
    written_by: str = Field(min_length=1, max_length=200)
    """Who wrote this version: a person's id, `employee/NAME`, or `consolidation`."""
