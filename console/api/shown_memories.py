"""What the HTTP API gives of memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pydantic import AwareDatetime, Field

from console.api.model import ApiModel
from console.views_auto_memory import AutoMemoryPage, ShelfTold
from console.views_memories import MemoriesFound, MemoryChange, MemoryCycle, MemoryPage, MemoryRow, MemoryWritten
from contracts import MemoryHolder, MemoryId, MemoryRecord, Name

MEMORY = "memory/01JB0000000000000000000MEM"


class MemoryShown(ApiModel):
    """One memory."""

    record: MemoryRecord
    """What it says, whose it is, and how it stands."""
    importance: float = Field(ge=0, le=1)
    """How important it is by now: it fades from when it was last read or written."""

    @classmethod
    def of(cls, row: MemoryRow) -> MemoryShown:
        """Return a row as the API gives it."""
        return cls(record=row.record, importance=row.importance)


class MemoryList(ApiModel):
    """Some memories, oldest first."""

    memories: tuple[MemoryShown, ...]
    """Oldest first."""
    at: AwareDatetime
    """The moment for which importance is told."""
    next: MemoryId | None = Field(default=None, examples=[MEMORY])
    """What to pass as `after` for more; absent where that is all."""

    @classmethod
    def of(cls, page: MemoryPage) -> MemoryList:
        """Return a page as the API gives it."""
        rows = tuple(MemoryShown.of(row) for row in page.memories)
        return cls(memories=rows, at=page.at, next=rows[-1].record.memory_id if page.more else None)


class MemoryChangeShown(ApiModel):
    """One thing that happened to a memory."""

    event: str = Field(examples=["memory.corrected"])
    """What happened."""
    at_version: int
    """The version that it had afterwards."""
    text: str
    """What it said afterwards."""
    by: str
    """Who did it."""
    position: int
    """Of the event in the ledger."""
    reason: str = ""
    """Why, where that was said."""


class MemoryWithHistory(ApiModel):
    """One memory with everything that happened to it."""

    memory: MemoryShown
    """As it stands."""
    history: tuple[MemoryChangeShown, ...]
    """Oldest first."""

    @classmethod
    def of(cls, row: MemoryRow, history: Sequence[MemoryChange]) -> MemoryWithHistory:
        """Return both as the API gives them."""
        told = tuple(
            MemoryChangeShown(
                event=each.event, at_version=each.at_version, text=each.text, by=each.by, position=each.position,
                reason=each.reason,
            )
            for each in history
        )  # fmt: skip
        return cls(memory=MemoryShown.of(row), history=told)


class MemoryHitShown(ApiModel):
    """One memory that a search found, and why."""

    memory: MemoryShown
    """What was found."""
    score: float
    """Compares hits of one search."""
    parts: dict[str, float]
    """`words`, `meaning`, `phrase` are added; `fresh` and `personal` multiply the sum."""
    terms: dict[str, float]
    """Word of the question → its part, largest first."""
    tokens: int
    """How long it is for a model."""


class MemoriesFoundShown(ApiModel):
    """What a search came to."""

    hits: tuple[MemoryHitShown, ...]
    """Best first."""
    candidates: int
    """How many were looked at closer."""
    no_room: tuple[MemoryId, ...] = ()
    """Would have been among the best, and did not fit into the tokens there are."""
    by_words: str = ""
    """Why meaning was left aside; empty where it was not."""

    @classmethod
    def of(cls, found: MemoriesFound) -> MemoriesFoundShown:
        """Return what was found as the API gives it."""
        hits = tuple(
            MemoryHitShown(
                memory=MemoryShown.of(hit.memory), score=hit.score, parts=dict(hit.parts), terms=dict(hit.terms),
                tokens=hit.tokens,
            )
            for hit in found.hits
        )  # fmt: skip
        return cls(hits=hits, candidates=found.candidates, no_room=tuple(found.no_room), by_words=found.by_words)


class MemoryWrittenShown(ApiModel):
    """What became of something that was written down."""

    became: str = Field(examples=["written"])
    """`written`, `reinforced`, `supersedes`, `disputed` (a person decides), `left`, `shown_before`, `there`."""
    why: str
    """Why that became of it."""
    points: dict[str, int]
    """What spoke for and against it."""
    least: int
    """Points that it needed."""
    memory: MemoryShown | None = None
    """The record that it became, or that said it already."""
    other: MemoryId | None = None
    """The one that it supersedes or contradicts."""

    @classmethod
    def of(cls, written: MemoryWritten) -> MemoryWrittenShown:
        """Return it as the API gives it."""
        memory = None if written.memory is None else MemoryShown.of(written.memory)
        return cls(
            became=written.became, why=written.why, points=dict(written.points), least=written.least, memory=memory,
            other=written.other,
        )  # fmt: skip


class AutoMemoryShown(ApiModel):
    """One page of what is remembered, told as a whole."""

    kind: str = Field(examples=["global"])
    """`project`, `global`, or `raw` where nothing was consolidated yet."""
    text: str = Field(examples=["## Decisions\n- We buy from Oak."])
    """Markdown: lines under Preferences, Conventions, Environment, Decisions."""
    sources: tuple[MemoryId, ...]
    """The memories that it rests on."""
    left_out: int
    """Lines for which there was no room; a search finds what they tell."""


class AutoMemoryList(ApiModel):
    """What a conversation begins with."""

    pages: tuple[AutoMemoryShown, ...]
    """The project's first."""

    @classmethod
    def of(cls, pages: Sequence[AutoMemoryPage]) -> AutoMemoryList:
        """Return them as the API gives them."""
        shown = (
            AutoMemoryShown(kind=each.kind, text=each.text, sources=tuple(each.sources), left_out=each.left_out)
            for each in pages
        )
        return cls(pages=tuple(shown))


class ShelfShown(ApiModel):
    """What came of telling memories of one holder, domain and project anew."""

    holder: MemoryHolder
    """Whose."""
    domain: Name | None = None
    """Of this domain."""
    project: Name | None = None
    """Of this project."""
    outcome: str = Field(examples=["told"])
    """`told`, `unchanged`, `busy` (another process is at it), `unfinished` (the model is away)."""
    lines: int
    """Lines of its page."""
    requests: int
    """To a model; none where nothing was written or forgotten."""
    tokens: int
    """In and out."""
    faults: tuple[str, ...] = ()
    """Why parts of what a model wrote were not used."""


class ShelvesShown(ApiModel):
    """What came of a consolidation."""

    shelves: tuple[ShelfShown, ...]
    """Each holder, domain and project."""

    @classmethod
    def of(cls, told: Sequence[ShelfTold]) -> ShelvesShown:
        """Return it as the API gives it."""
        shown = (
            ShelfShown(
                holder=each.holder, domain=each.domain, project=each.project, outcome=each.outcome, lines=each.lines,
                requests=each.requests, tokens=each.tokens, faults=tuple(each.faults),
            )
            for each in told
        )  # fmt: skip
        return cls(shelves=tuple(shown))


class MemoryCycleShown(ApiModel):
    """The daily cycle."""

    held: bool
    """False where this day had one already."""
    day: date | None = None
    """The date, UTC."""
    looked_at: int = 0
    """Memories that hold."""
    faded: tuple[MemoryId, ...] = ()
    """Found faint, and not archived yet."""
    archived: tuple[MemoryId, ...] = ()
    """Found faint for the third time in a row."""
    missed_days: int = 0
    """Days before it on which there was none."""

    @classmethod
    def of(cls, cycle: MemoryCycle) -> MemoryCycleShown:
        """Return it as the API gives it."""
        return cls(
            held=cycle.held, day=cycle.day, looked_at=cycle.looked_at, faded=tuple(cycle.faded),
            archived=tuple(cycle.archived), missed_days=cycle.missed_days,
        )  # fmt: skip
