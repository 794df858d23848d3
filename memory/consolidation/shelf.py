"""What is told together: memories of one holder, of one domain or none, and of one project or none.

A shelf is never mixed with another one before somebody who may see both asks, so that no summary of one person, domain
or project holds a word of another's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contracts import HolderKind, Json, MemoryHolder, MemoryRecord, Name
from memory.conversations import Started
from runtime.canonical import sha256

KIND = "consolidation"
"""Of the streams: `consolidation/ORGANISATION/SHA256 of the shelf`."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Which memories."""

    holder: MemoryHolder
    domain: Name | None = None
    project: Name | None = None

    @property
    def is_global(self) -> bool:
        """Whether it belongs to no project: neither to a business domain nor to a process."""
        return self.domain is None and self.project is None

    @property
    def title(self) -> str:
        """What it is called in a heading."""
        within = " / ".join(filter(None, (self.domain, self.project)))
        return f"{self.holder.name} in {within}" if within else self.holder.name

    def stream(self, organisation: Name) -> str:
        """Return the stream in which it stands what was made of it."""
        named: Json = [self.holder.kind.value, self.holder.name, self.domain or "", self.project or ""]
        return f"{KIND}/{organisation}/{sha256(named)[:32]}"


def shelf_of(record: MemoryRecord) -> Shelf:
    """Return the shelf on which a memory stands."""
    return Shelf(record.holder, record.domain, record.project)


def shelves_for(
    holders: Sequence[MemoryHolder], domains: Sequence[Name] = (), projects: Sequence[Name] = ()
) -> list[Shelf]:
    """Return what may be told to whoever reads for these holders, domains and projects: projects first."""
    return [
        Shelf(holder, domain, project)
        for domain, project in (*_projects(domains, projects), (None, None))
        for holder in holders
    ]


def holders_of_conversation(started: Started) -> list[MemoryHolder]:
    """Return whose memories a conversation begins with: its person's, its employee's and the business's."""
    return [
        MemoryHolder(kind=HolderKind.PERSON, name=started.person),
        MemoryHolder(kind=HolderKind.AGENT, name=started.employee),
        MemoryHolder(kind=HolderKind.BUSINESS, name=started.organisation),
    ]


def shelves_of_conversation(started: Started) -> list[Shelf]:
    """Return what a conversation begins with, its project first."""
    domains = [started.domain] if started.domain else []
    return shelves_for(holders_of_conversation(started), domains, [started.project] if started.project else [])


def _projects(domains: Sequence[Name], projects: Sequence[Name]) -> Iterator[tuple[Name | None, Name | None]]:
    yield from ((domain, project) for domain in domains for project in projects)
    yield from ((None, project) for project in projects)
    yield from ((domain, None) for domain in domains)
