"""What somebody may look at in one organisation, by the roles that they hold there now."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from contracts import Name
from governance.access.people import People, Person


@dataclass(frozen=True)
class Sight:
    """Of one person among the people of now; without a person it is unbounded."""

    people: People | None = None
    person: Person | None = None

    @property
    def whole(self) -> bool:
        """Whether everything of the organisation may be seen, also what has no place in it."""
        return self.people is None or self.person is None or self.people.sees(self.person, None)

    def sees(self, *places: Name | None) -> bool:
        """Whether what happens at all of these employees may be seen."""
        if self.whole or self.people is None or self.person is None:
            return True
        return bool(places) and all(self.people.sees(self.person, place) for place in places)

    def sees_skill(self, skill: Name | None) -> bool:
        """Whether an execution of this skill may be seen; without one it concerns the whole organisation."""
        return self.whole or (self.people is not None and self.sees(self.people.departments.place_of(skill)))

    def sees_some(self, places: Collection[Name], skill: Name | None) -> bool:
        """Whether what these employees do for an execution of the skill may be seen: they all, or the execution."""
        return self.sees_skill(skill) or (bool(places) and self.sees(*places))


EVERYTHING = Sight()
