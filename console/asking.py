"""What a person asks for, read against the organisation that is asked: who, what, within which limits, as of when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from pydantic import ValidationError

from agents.organisation import Organisation, route
from console.budgets import read_budget
from console.errors import SkillUnclear
from console.parameters import parameters_of
from console.system_user import system_user
from console.typed import refused
from console.views import RunOptions
from contracts import ApprovalMode, ExecutionRequest, GovernanceTerms, Json, Name, PlanDefinition
from governance.access import People, Person, Principal
from governance.access.people import OPERATING, Role
from memory.buckets import year_fault
from runtime.errors import InvalidArguments, PermissionRefused

_TYPED = {"goal": "The goal", "idempotency_key": "The key", "language": "The language"}
"""Field of a request → what a person typed for it."""


_SHOWN_OF_GOAL = 200
"""Letters of a goal in an error."""


def request_for(
    organisation: Organisation, options: RunOptions, person: Person, plan: PlanDefinition | None = None
) -> ExecutionRequest:  # fmt: skip
    """Return the request that the options mean in this organisation.

    Args:
        plan: what a model has to do with the goal, instead of a skill; see `console.goals`.

    Raises:
        SkillUnclear: no skill fits, or several do.
    """
    skill = None
    if plan is None:
        skill = options.skill or _skill_for(options.goal, organisation)
        if skill not in organisation.skills:
            raise _no_skill(f"There is no skill {skill}.", organisation, [])
    declared = organisation.skills[skill].plan.parameters if skill is not None else {}
    try:
        return ExecutionRequest(
            organisation=organisation.name,
            goal=options.goal,
            skill=skill,
            plan=plan,
            parameters=parameters_of(options, declared),
            governance=GovernanceTerms(
                approval_mode=ApprovalMode.STRICT if options.strict else None, budget=read_budget(options.budget)
            ),
            idempotency_key=options.key,
            requested_by=person.id,
            known_at=known_at(organisation, options.at),
            priority=options.priority,
            language=options.language or organisation.language,
        )
    except ValidationError as error:
        raise refused(error, _TYPED) from None


def acting(organisation: Organisation, by: str | None) -> Person:
    """Return who asks; raise PermissionRefused for somebody who may only look, wherever in the organisation."""
    person = organisation.people.acting(by, system_user())
    return _operates(person, person.any_roles)


def may_operate(people: People, person: Person, skill: Name | None) -> Person:
    """Return the person, who may start and stop executions of the skill; raise PermissionRefused otherwise.

    Without a skill an execution concerns the whole organisation.
    """
    _operates(person, person.any_roles)
    place = people.departments.place_of(skill)
    if people.roles_at(person, place).isdisjoint(OPERATING):
        where = f"in the department of {place}" if place is not None else "for the whole organisation"
        raise PermissionRefused(
            f"{person.name} may start and stop work in other departments only; this takes the role operator or admin "
            f"{where}. `as` (--as) says who acts.",
            person=person.id,
            department=place,
        )
    return person


def _operates(person: Person, roles: Collection[Role]) -> Person:
    if OPERATING.isdisjoint(roles):
        does = "decide" if Role.APPROVER in roles else "look"
        raise PermissionRefused(
            f"{person.name} may {does} but not start or stop work. That takes the role operator or admin; "
            "`as` (--as) says who acts.",
            person=person.id,
        )
    return person


def may_steer(principal: Principal) -> Principal:
    """Return the principal, who may open and close nodes; raise PermissionRefused otherwise.

    A node serves whoever has a place on the ledger, so that nobody of one organisation may take it from the others.
    """
    if not principal.is_admin:
        raise PermissionRefused(
            f"The token {principal.name} may not open or close nodes: they serve every organisation on this ledger. "
            "That takes an administrator's token (`silicon tokens create --admin`), or the command line of a machine.",
            principal=principal.id,
        )
    return principal


def known_at(organisation: Organisation, at: datetime | None) -> datetime | None:
    """Return the moment in UTC: the one that was given, in local time where it has no zone, or the organisation's.

    Raises:
        InvalidArguments: the year cannot be meant.
    """
    fault = year_fault(at) if at is not None else None
    if at is not None and fault is not None:
        raise InvalidArguments(f"{at.isoformat()} cannot be looked at: {fault}.", at=at.isoformat())
    if at is None:
        at = organisation.stands_at
    elif at.tzinfo is None:
        at = at.replace(tzinfo=organisation.zone)
    return at.astimezone(UTC) if at else None


def _skill_for(goal: str, organisation: Organisation) -> Name:
    found = route(goal, organisation.skills.values())
    flat = " ".join(goal.split())
    shown = flat if len(flat) <= _SHOWN_OF_GOAL else f"{flat[:_SHOWN_OF_GOAL]}…"
    if found.skill is not None:
        return found.skill
    tied = [fit.skill for fit in found.tied]
    if tied:
        raise _no_skill(f"Several skills fit “{shown}” equally well: {', '.join(tied)}.", organisation, tied)
    raise _no_skill(f"No skill of {organisation.name} fits “{shown}”.", organisation, [])


def _no_skill(what: str, organisation: Organisation, tied: Sequence[Name]) -> SkillUnclear:
    shown = [organisation.skills[name] for name in tied or sorted(organisation.skills)]
    listed = "\n".join(f"  {skill.name}: {skill.when_to_use or skill.description}" for skill in shown)
    names: list[Json] = [skill.name for skill in shown]
    return SkillUnclear(f"{what} Name one with `skill` (--skill):\n{listed}", skills=names)
