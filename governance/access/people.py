"""The people of an organisation, as its folder names them now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from contracts import DecisionCard, Name
from governance.errors import NobodyActs

ANY_LOGIN = "any"
"""The login of a person that every system user acts as who has no entry of their own."""


class Role(StrEnum):
    """What a person may do, least first."""

    VIEWER = "viewer"
    """Reads."""
    APPROVER = "approver"
    """Decides cards on which they are named."""
    OPERATOR = "operator"
    """Runs, resumes and cancels."""
    ADMIN = "admin"
    """Does all of that; still decides only cards on which they are named."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who acts in the organisation."""

    id: Name
    name: str
    roles: frozenset[Role] = frozenset({Role.VIEWER})
    groups: frozenset[Name] = frozenset()
    login: str | None = None
    """The system user that is this person, or `any`."""
    deputy_for: frozenset[Name] = frozenset()
    """People this person stands in for. It gives no right; it extends the conflict of interest."""

    def is_called(self, names: Sequence[Name]) -> bool:
        """Whether one of `names` is this person's id or a group of theirs."""
        return self.id in names or not self.groups.isdisjoint(names)


class Why(StrEnum):
    """Which rule keeps a person from deciding a card."""

    NOT_A_MEMBER = "not_a_member"
    ROLE = "role"
    NOT_NAMED = "not_named"
    REQUESTER = "requester"
    DEPUTY = "deputy"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A no with its reason, for a person to read."""

    why: Why
    message: str


class People:
    """Everybody with an entry in the organisation; whoever is not here may do nothing."""

    def __init__(self, people: Iterable[Person]) -> None:
        self._people = {person.id: person for person in people}

    def __iter__(self) -> Iterator[Person]:
        return iter(self._people.values())

    def get(self, person_id: str) -> Person | None:
        """Return the person as they stand now, or None."""
        return self._people.get(person_id)

    def acting(self, as_: str | None, system_user: str) -> Person:
        """Return who acts: the person named, else the one whose login is the system user, else the one for `any`.

        Raises:
            NobodyActs: there is no such person; the message lists those there are.
        """
        if as_ is not None:
            if as_ in self._people:
                return self._people[as_]
            raise NobodyActs(f"Nobody here is called {as_}. {self._listed()}", name=as_, people=list(self._people))
        for login in (system_user, ANY_LOGIN):
            for person in self:
                if person.login == login:
                    return person
        raise NobodyActs(
            f"The system user {system_user} has no entry among the people of org.yaml. "
            f"Say who acts with `as` (--as NAME), or give a person `login: {system_user}`. {self._listed()}",
            name=system_user,
            people=list(self._people),
        )

    def members(self, name: str) -> list[Person]:
        """Return the person of that id, or everybody in the group of that name."""
        return [person for person in self if person.is_called([name])]

    def may_decide(self, person: Person, card: DecisionCard, who: Sequence[Name] | None = None) -> Refusal | None:
        """Return why `person` may not decide `card` now, or None when they may.

        What counts is how the person stands now, not when the card was raised. `who` is the audience that holds now,
        where the card was passed on; absent means the card's own.
        """
        audience = card.who if who is None else who
        named = ", ".join(audience)
        now = self._people.get(person.id)
        if now is None:
            return Refusal(Why.NOT_A_MEMBER, f"{person.id} has no entry in this organisation any more.")
        if now.id == card.requested_by:
            return Refusal(Why.REQUESTER, f"{now.name} asked for this execution; whoever asks cannot approve.")
        if card.requested_by in now.deputy_for:
            return Refusal(
                Why.DEPUTY, f"{now.name} stands in for {card.requested_by}, who asked; whoever asks cannot approve."
            )
        if now.roles.isdisjoint({Role.APPROVER, Role.ADMIN}):
            return Refusal(Why.ROLE, f"{now.name} has no role that decides; it takes approver or admin.")
        if not now.is_called(audience):
            return Refusal(Why.NOT_NAMED, f"{now.name} is not asked here; this card is for {named}.")
        return None

    def _listed(self) -> str:
        if not self._people:
            return "The organisation names no people."
        return f"The people are: {', '.join(f'{person.id} ({person.name})' for person in self)}."
