"""Who may see and change which memories.

| whose | seen by | changed by |
|---|---|---|
| a person's | that person | that person |
| the business's | everybody of the organisation | whoever operates the whole organisation |
| an employee's | whoever operates the whole organisation | the same |

An administrator is no exception: what is remembered of a person is theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts import HolderKind, MemoryHolder, MemoryRecord
from governance.access import People, Person
from governance.access.people import OPERATING
from runtime.errors import InvalidArguments, PermissionRefused

if TYPE_CHECKING:
    from agents.organisation import Organisation

ME, BUSINESS = "me", "business"


def holders_seen(organisation: Organisation, person: Person | None) -> list[MemoryHolder]:
    """Return whose memories somebody may see; None is the machine's own account, which is no person."""
    seen = [MemoryHolder(kind=HolderKind.BUSINESS, name=organisation.name)]
    if person is not None:
        seen.append(MemoryHolder(kind=HolderKind.PERSON, name=person.id))
    if person is None or operates(organisation.people, person):
        seen += [MemoryHolder(kind=HolderKind.AGENT, name=name) for name in organisation.employees]
    return seen


def holder_named(whose: str, organisation: Organisation, person: Person | None) -> MemoryHolder:
    """Return the holder that a person names; raise InvalidArguments where there is none of that name."""
    if whose == BUSINESS:
        return MemoryHolder(kind=HolderKind.BUSINESS, name=organisation.name)
    if whose == ME:
        if person is None:
            raise InvalidArguments("Nobody acts, so there is no `me`: `as` (--as) says who acts.", whose=whose)
        return MemoryHolder(kind=HolderKind.PERSON, name=person.id)
    if whose in organisation.employees:
        return MemoryHolder(kind=HolderKind.AGENT, name=whose)
    there = ", ".join(organisation.employees)
    raise InvalidArguments(
        f"Whose memory is meant by {whose!r}? It is `me`, `business`, or one of {there}.", whose=whose
    )


def may_write(people: People, person: Person, holder: MemoryHolder) -> None:
    """Return when a person may write memories of a holder; raise PermissionRefused."""
    if holder == MemoryHolder(kind=HolderKind.PERSON, name=person.id) or (
        holder.kind is not HolderKind.PERSON and operates(people, person)
    ):
        return
    raise PermissionRefused(
        f"{person.name} may not change memories of {holder.name}: those of the business and of employees are changed "
        "by whoever has the role operator or admin for the whole organisation. `as` (--as) says who acts.",
        person=person.id, holder=holder.name,
    )  # fmt: skip


def may_change(people: People, person: Person, record: MemoryRecord) -> None:
    """Return when a person may change a memory; raise PermissionRefused."""
    may_write(people, person, record.holder)


def operates(people: People, person: Person) -> bool:
    """Whether a person operates the whole organisation."""
    return not OPERATING.isdisjoint(people.roles_at(person, None))
