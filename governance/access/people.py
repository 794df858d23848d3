"""The people of an organisation, as its folder names them now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from contracts import DecisionCard, Name
from governance.access.departments import Departments
from governance.channels.channel import Notify, Quiet
from governance.errors import NobodyActs

ANY_LOGIN = "any"
"""The login of a person that every system user acts as who has no entry of their own."""


class Role(StrEnum):
    """What a person may do, least first."""

    VIEWER = "viewer"
    """Reads."""
    APPROVER = "approver"
    """Decides cards on which they are named; reads."""
    OPERATOR = "operator"
    """Runs, resumes and cancels; reads."""
    ADMIN = "admin"
    """Does all of that; still decides only cards on which they are named."""


DECIDING = frozenset({Role.APPROVER, Role.ADMIN})
OPERATING = frozenset({Role.OPERATOR, Role.ADMIN})


@dataclass(frozen=True, slots=True)
class Scope:
    """Roles that hold in one department."""

    department: Name
    """The employee whose subtree it is."""
    roles: frozenset[Role]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who acts in the organisation."""

    id: Name
    name: str
    roles: frozenset[Role] = frozenset({Role.VIEWER})
    """Those held everywhere; empty for somebody who belongs to departments only."""
    groups: frozenset[Name] = frozenset()
    login: str | None = None
    """The system user that is this person, or `any`."""
    deputy_for: frozenset[Name] = frozenset()
    """People this person stands in for. It gives no right; it extends the conflict of interest."""
    scopes: tuple[Scope, ...] = ()
    """Roles held in departments, beside those held everywhere."""
    email: str | None = None
    notify: tuple[Notify, ...] = ()
    """By which channels the person is told, and from which severity on."""
    quiet: Quiet | None = None
    """Hours in which the person is left alone."""

    @property
    def any_roles(self) -> frozenset[Role]:
        """Every role held anywhere."""
        return self.roles.union(*(scope.roles for scope in self.scopes))

    def is_called(self, names: Sequence[Name]) -> bool:
        """Whether one of `names` is this person's id or a group of theirs."""
        return self.id in names or not self.groups.isdisjoint(names)


class Why(StrEnum):
    """Which rule keeps a person from deciding a card."""

    NOT_A_MEMBER = "not_a_member"
    ROLE = "role"
    DEPARTMENT = "department"
    NOT_NAMED = "not_named"
    REQUESTER = "requester"
    DEPUTY = "deputy"
    EDITOR = "editor"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A no with its reason, for a person to read."""

    why: Why
    message: str


class People:
    """Everybody with an entry in the organisation; whoever is not here may do nothing."""

    def __init__(self, people: Iterable[Person], departments: Departments | None = None) -> None:
        self._people = {person.id: person for person in people}
        self.departments = departments or Departments()

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

    # rights
    def roles_at(self, person: Person, place: Name | None) -> frozenset[Role]:
        """Return the roles that a person, as they stand now, holds where an employee works; nobody else's count.

        `place` is that employee, None for what concerns the whole organisation: there only roles held everywhere count.
        """
        now = self._people.get(person.id)
        if now is None:
            return frozenset()
        chain = () if place is None else self.departments.chain(place)
        return now.roles.union(*(scope.roles for scope in now.scopes if scope.department in chain))

    def sees(self, person: Person, place: Name | None) -> bool:
        """Whether the person may look at what happens there: any role lets them."""
        return bool(self.roles_at(person, place))

    def decides_at(self, person: Person, places: Collection[Name]) -> bool:
        """Whether the person has a role that decides at each of these places; for no place, one held everywhere."""
        return all(self.roles_at(person, place) & DECIDING for place in places or (None,))

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
        if now.any_roles.isdisjoint(DECIDING):
            return Refusal(Why.ROLE, f"{now.name} has no role that decides; it takes approver or admin.")
        if not self.decides_at(now, places := places_of(card)):
            where = f"for {', '.join(places)}" if places else "for the whole organisation"
            return Refusal(
                Why.DEPARTMENT, f"{now.name} decides in other departments; this card takes one who does {where}."
            )
        if not now.is_called(audience):
            return Refusal(Why.NOT_NAMED, f"{now.name} is not asked here; this card is for {named}.")
        return None

    def _listed(self) -> str:
        if not self._people:
            return "The organisation names no people."
        return f"The people are: {', '.join(f'{person.id} ({person.name})' for person in self)}."


def places_of(card: DecisionCard) -> tuple[Name, ...]:
    """Return the employees whom a card concerns: who raised it, and everybody who would act by one of its options."""
    acting = [action.by for option in card.options for action in (*option.actions, *option.undo)]
    raised = [card.employee] if card.employee is not None else []
    return tuple(dict.fromkeys([*raised, *acting]))
