"""The tree of employees while it is being checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.organisation.draft import Draft
from agents.organisation.org_file import EmployeeEntry


@dataclass(frozen=True)
class Tree:
    """Who reports to whom, and who has which skill."""

    superiors: Mapping[str, str]
    skills: Mapping[str, Sequence[EmployeeEntry]]

    @classmethod
    def of(cls, draft: Draft) -> Tree:
        """Return the tree of a draft; an empty one when org.yaml could not be read."""
        superiors: dict[str, str] = {}
        skills: dict[str, list[EmployeeEntry]] = {}
        for entry in draft.employees.values():
            superiors.update({below.id: entry.id for below in entry.manages})
            for name in entry.skills:
                skills.setdefault(name, []).append(entry)
        return cls(superiors, skills)

    def owners(self, skill: str) -> Sequence[EmployeeEntry]:
        """Return the employees that have the skill."""
        return self.skills.get(skill, ())

    def is_below(self, employee: str, superior: str) -> bool:
        """Whether `employee` reports to `superior`, directly or through others."""
        seen: set[str] = set()
        above = self.superiors.get(employee)
        while above is not None and above != superior and above not in seen:
            seen.add(above)
            above = self.superiors.get(above)
        return above == superior
