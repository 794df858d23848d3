"""Departments: the employees of an organisation as the places at which people hold roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts import Name


@dataclass(frozen=True)
class Departments:
    """Who reports to whom, and who carries out which skill, as the folder says it now.

    A department is an employee with everybody below. Whatever happens has a place: the employee at which it happens. Of
    what has no place, or one that is not in the tree any more, only roles that are held everywhere tell.
    """

    superiors: Mapping[Name, Name] = field(default_factory=dict)
    """Employee → the employee it reports to; the head has none."""
    owners: Mapping[Name, Sequence[Name]] = field(default_factory=dict)
    """Skill → the employees that carry it out."""

    def chain(self, employee: Name) -> tuple[Name, ...]:
        """Return the employee and everybody above, up to the head."""
        found = [employee]
        while (above := self.superiors.get(found[-1])) is not None and above not in found:
            found.append(above)
        return tuple(found)

    def place_of(self, skill: Name | None) -> Name | None:
        """Return where a skill is carried out: its owner, or the lowest employee to whom all its owners report."""
        owners = self.owners.get(skill, ()) if skill is not None else ()
        if not owners:
            return None
        shared = [set(self.chain(owner)) for owner in owners]
        return next((each for each in self.chain(owners[0]) if all(each in chain for chain in shared)), None)
