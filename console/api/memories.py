"""Memories: listed, searched, written, corrected and forgotten, by the rights of whoever asks."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from pydantic import Field

from console.api.asked import Acting
from console.api.desk import Asking, AtDesk, query_of
from console.api.shown_memories import (
    MEMORY,
    AutoMemoryList,
    MemoriesFoundShown,
    MemoryCycleShown,
    MemoryList,
    MemoryShown,
    MemoryWithHistory,
    MemoryWrittenShown,
    ShelvesShown,
)
from console.ports_memories import Asked, MemoryMove
from contracts import MemoryClass, MemoryId, MemoryKind, MemoryState, Name
from contracts.ids import ULID_PATTERN

routes = APIRouter(tags=["memories"])
Whose = Annotated[Name | None, Query(description="Whose; may be left out where the token belongs to one organisation.")]
Holder = Annotated[
    str | None, Query(description="`me`, `business` or the name of an employee; else all that may be seen.")
]
Domains = Annotated[list[Name] | None, Query(description="Of these domains and of none; may be repeated.")]
Kinds = Annotated[list[MemoryKind] | None, Query(description="Of these kinds; may be repeated.")]
Entities = Annotated[list[str] | None, Query(description="In which one of these names stands; may be repeated.")]
As = Annotated[
    Name | None, Query(alias="as", description="The person that asks; only an administrator's token may name one.")
]


class OfOrganisation(Acting):
    """Whose memories, and who acts."""

    organisation: Name | None = None
    """Whose; may be left out where the token belongs to one organisation."""


class NewMemory(OfOrganisation):
    """Something to be remembered."""

    text: str = Field(min_length=1, max_length=4_000, examples=["Newark closes its short runway in snow."])
    """What; it should stand alone."""
    whose: str = Field(default="me", max_length=200)
    """`me`, `business`, or the name of an employee."""
    memory_class: MemoryClass = MemoryClass.FACT
    """How fast it fades."""
    domain: Name | None = None
    """Its business domain."""
    says: tuple[str, str, str] | None = Field(default=None, examples=[("fiscal year", "starts in", "April")])
    """Subject, relation and value, so that a contradiction is found."""
    entities: tuple[str, ...] = ()
    """Names in it."""
    importance: float = Field(default=0.7, ge=0, le=1)
    """0 to 1."""


class Correction(OfOrganisation):
    """What a memory says from now on; what is left out stays."""

    text: str | None = Field(default=None, min_length=1, max_length=4_000)
    """What it says."""
    domain: Name | None = None
    """Its business domain."""
    importance: float | None = Field(default=None, ge=0, le=1)
    """0 to 1."""
    version: int = Field(ge=1)
    """The version that was read; another one is refused."""
    reason: str = Field(default="", max_length=2_000)
    """Why."""


class Moving(OfOrganisation):
    """Why something is done with a memory."""

    reason: str = Field(default="", max_length=2_000)
    """Why; an erasure has to say it."""


def _memory_id(
    ulid: Annotated[
        str,
        Path(
            alias="memory", pattern=ULID_PATTERN, description="The memory: the part of its id after the slash.",
            examples=[MEMORY.partition("/")[2]],
        ),
    ],
) -> MemoryId:  # fmt: skip
    return MemoryId(f"{MemoryId.KIND}/{ulid}")


OfMemory = Annotated[MemoryId, Depends(_memory_id)]


_ASKED = ("organisation", "whose", "domain", "kind", "entity", "as")


@routes.get("/memories", dependencies=[query_of(*_ASKED, "state", "after", "limit")])
async def list_memories(
    desk: AtDesk,
    asking: Asking,
    *,
    organisation: Whose = None,
    whose: Holder = None,
    domain: Domains = None,
    kind: Kinds = None,
    state: Annotated[list[MemoryState] | None, Query(description="In these states; else those that hold.")] = None,
    entity: Entities = None,
    after: Annotated[MemoryId | None, Query(description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="So many at most.")] = 100,
    as_: As = None,
) -> MemoryList:
    """List memories, oldest first: one's own and the business's, and to operators those of employees."""
    folder = await desk.home_of(organisation, asking)
    asked = Asked(
        states=tuple(state or (MemoryState.ACTIVE,)), kinds=tuple(kind or ()), domains=tuple(domain or ()), whose=whose,
        entities=tuple(entity or ()),
    )  # fmt: skip
    by = asking.acts_as(as_)
    return MemoryList.of(await desk.application.memories(folder, asked, by=by, after=after, limit=limit))


@routes.get("/memories/search", dependencies=[query_of(*_ASKED, "q", "top")])
async def search_memories(
    desk: AtDesk,
    asking: Asking,
    q: Annotated[str, Query(min_length=1, max_length=2_000, description="What is looked for, in words.")],
    *,
    organisation: Whose = None,
    whose: Holder = None,
    domain: Domains = None,
    kind: Kinds = None,
    entity: Entities = None,
    top: Annotated[int | None, Query(ge=1, le=100, description="So many at most.")] = None,
    as_: As = None,
) -> MemoriesFoundShown:
    """Find the few memories that answer a question, and why these; each counts as read."""
    folder = await desk.home_of(organisation, asking)
    asked = Asked(kinds=tuple(kind or ()), domains=tuple(domain or ()), whose=whose, entities=tuple(entity or ()))
    by = asking.acts_as(as_)
    return MemoriesFoundShown.of(await desk.application.search_memories(folder, q, asked, by=by, top=top))


@routes.post("/memories", status_code=201)
async def write_memory(body: NewMemory, desk: AtDesk, asking: Asking) -> MemoryWrittenShown:
    """Write something down, unless it is known; what contradicts a key decision waits for a person."""
    folder = await desk.home_of(body.organisation, asking)
    written = await desk.application.write_memory(
        folder, body.text, by=asking.acts_as(body.as_), whose=body.whose, memory_class=body.memory_class,
        domain=body.domain, about=body.says or (), entities=body.entities, importance=body.importance,
    )  # fmt: skip
    return MemoryWrittenShown.of(written)


@routes.post("/memories/cycle")
async def hold_cycle(body: OfOrganisation, desk: AtDesk, asking: Asking) -> MemoryCycleShown:
    """Hold today's cycle: what was faint for three of them in a row is archived. Servers hold it by themselves."""
    folder = await desk.home_of(body.organisation, asking)
    return MemoryCycleShown.of(await desk.application.hold_memory_cycle(folder))


@routes.get("/memories/auto", dependencies=[query_of("organisation", "employee", "domain", "project", "as")])
async def auto_memory(
    desk: AtDesk,
    asking: Asking,
    *,
    organisation: Whose = None,
    employee: Annotated[Name | None, Query(description="Whom one talks to.")] = None,
    domain: Domains = None,
    project: Annotated[list[Name] | None, Query(description="Of which project; may be repeated.")] = None,
    as_: As = None,
) -> AutoMemoryList:
    """Show what a conversation begins with: the page of its project, then the general one."""
    folder = await desk.home_of(organisation, asking)
    pages = await desk.application.auto_memory(
        folder, by=asking.acts_as(as_), employee=employee, domains=domain or (), projects=project or ()
    )
    return AutoMemoryList.of(pages)


@routes.post("/memories/consolidation")
async def consolidate(body: OfOrganisation, desk: AtDesk, asking: Asking) -> ShelvesShown:
    """Tell memories anew where something was written or forgotten; servers do it when a conversation begins."""
    folder = await desk.home_of(body.organisation, asking)
    return ShelvesShown.of(await desk.application.consolidate_memories(folder, by=asking.acts_as(body.as_)))


@routes.get("/memories/{memory}", dependencies=[query_of("organisation", "as")])
async def show_memory(
    memory: OfMemory, desk: AtDesk, asking: Asking, *, organisation: Whose = None, as_: As = None
) -> MemoryWithHistory:
    """Show one memory with its source and everything that happened to it."""
    folder = await desk.home_of(organisation, asking)
    return MemoryWithHistory.of(*await desk.application.memory(folder, memory, by=asking.acts_as(as_)))


@routes.patch("/memories/{memory}")
async def correct_memory(memory: OfMemory, body: Correction, desk: AtDesk, asking: Asking) -> MemoryShown:
    """Write a new version of what a memory says; the one before stays in its history."""
    folder = await desk.home_of(body.organisation, asking)
    given = {"text": body.text, "domain": body.domain, "importance": body.importance}
    changed = {name: value for name, value in given.items() if value is not None}
    row = await desk.application.correct_memory(
        folder, memory, changed, by=asking.acts_as(body.as_), version=body.version, reason=body.reason
    )  # fmt: skip
    return MemoryShown.of(row)


@routes.post("/memories/{memory}/{move}")
async def move_memory(
    memory: OfMemory,
    move: Annotated[MemoryMove, Path(description="What is done with it.")],
    body: Moving,
    desk: AtDesk,
    asking: Asking,
) -> MemoryShown | None:
    """Withdraw, restore, archive, undo, confirm or erase a memory; of an erased one nothing is left to be given."""
    folder = await desk.home_of(body.organisation, asking)
    row = await desk.application.move_memory(
        folder, memory, move, by=asking.acts_as(body.as_), reason=body.reason
    )  # fmt: skip
    return None if row is None else MemoryShown.of(row)
