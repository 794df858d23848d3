"""Whether a person may decide a card at this moment: by themselves, or on behalf of who delegated to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts import Delegation
from governance.access.people import People, Person, Refusal, Why
from governance.approvals.card import CardView


@dataclass(frozen=True, slots=True)
class Right:
    """That a person may decide."""

    on_behalf_of: str | None = None
    """Who delegated to them, where only that gives the right."""


def right_to_decide(
    people: People, delegations: Sequence[Delegation], view: CardView, person: Person, now: datetime
) -> Right | Refusal:
    """Return the right of a person as everything stands now, or why they have none.

    Whoever asked cannot decide, nor who stands in for them, by org.yaml or by a delegation, nor who edited the card or
    stands in for who did. Whoever asked for another execution that waits for the card asks for the very same. A
    delegation gives the taker the giver's place among those who are asked, and no role.
    """
    given = [each for each in delegations if each.holds(now, view.card.policy)]
    conflict = _conflict(people, given, view, person)
    if conflict is not None:
        return conflict
    refusal = people.may_decide(person, view.card, view.who)
    if refusal is None:
        return Right()
    if refusal.why is not Why.NOT_NAMED:
        return refusal
    for each in given:
        giver = people.get(each.giver)
        if each.taker != person.id or giver is None or people.may_decide(giver, view.card, view.who) is not None:
            continue
        if people.may_decide(person, view.card, (*view.who, person.id)) is None:
            return Right(on_behalf_of=giver.id)
    return refusal


def _conflict(people: People, given: Sequence[Delegation], view: CardView, person: Person) -> Refusal | None:
    stands_in = {each.giver for each in given if each.taker == person.id}
    now = people.get(person.id)
    stands_in |= set(now.deputy_for) if now is not None else set()
    asked = {view.card.requested_by, *(joined.requested_by for joined in view.joined if joined.requested_by)}
    if person.id in asked:
        return Refusal(Why.REQUESTER, f"{person.name} asked for this; whoever asks cannot approve.")
    if asked & stands_in:
        name = ", ".join(sorted(asked & stands_in))
        return Refusal(Why.DEPUTY, f"{person.name} stands in for {name}, who asked; whoever asks cannot approve.")
    editors = {edit.by for edit in view.edits}
    if person.id in editors:
        return Refusal(Why.EDITOR, f"{person.name} edited this card; whoever changed it cannot decide it.")
    if stands_in & editors:
        name = ", ".join(sorted(stands_in & editors))
        return Refusal(Why.EDITOR, f"{person.name} stands in for {name}, who edited this card and cannot decide it.")
    return None
