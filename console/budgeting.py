"""Budgets of departments and processes: how they stand, and giving one more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.organisation import Organisation
from console.budgets import read_budget
from console.errors import UnknownName
from console.folders import folder_of
from console.resources import Resources
from console.seeing import Seeing, sees_budget
from console.system_user import system_user
from console.views_costs import BudgetRow
from governance.access.people import Role
from governance.costs.rows import Standing, extend_budget, rebuild_rows, standings
from runtime.engine.amounts import shown
from runtime.errors import PermissionRefused


class Budgeting:
    """The port `CostsPort`, of what may be spent."""

    _resources: Resources

    async def budgets(self, folder: Path) -> Sequence[BudgetRow]:
        """Return how the budgets of departments and processes stand now."""
        organisation = (await self._resources.organisations()).read(folder_of(folder))
        ledger = (await self._resources.store()).ledger
        found = await standings(ledger, organisation.name, organisation.budgets, self._resources.clock.now())
        sight = Seeing(self._resources, self._resources.onlooker).in_folder(folder)
        return [row for row in map(_row, found) if sees_budget(sight, row.budget)]

    async def extend_budget(
        self, folder: Path, name: str, more: Mapping[str, str], *, by: str | None, why: str
    ) -> Sequence[BudgetRow]:
        """Give a budget more for the period that is now; see the port."""
        organisation = (await self._resources.organisations()).read(folder_of(folder))
        budget = next((each for each in organisation.budgets if each.name == name), None)
        if budget is None:
            there = ", ".join(each.name for each in organisation.budgets) or "none"
            raise UnknownName(f"There is no budget {name!r}. There are: {there}.", name=name)
        person = _allowed(organisation, by, budget.kind, budget.owner)
        await extend_budget(
            (await self._resources.store()).ledger, organisation.name, budget, read_budget(more),
            by=person, why=why, now=self._resources.clock.now(),
        )  # fmt: skip
        return [row for row in await self.budgets(folder) if row.budget == name]

    async def rebuild_budgets(self, folder: Path) -> int:
        """Make the rows of an organisation's budgets anew; return how many."""
        organisation = (await self._resources.organisations()).read(folder_of(folder))
        ledger = (await self._resources.store()).ledger
        return await rebuild_rows(ledger, organisation.name, organisation.budgets, self._resources.clock.now())


def _allowed(organisation: Organisation, by: str | None, kind: str, owner: str) -> str:
    """Return who gives it; raise PermissionRefused for whoever is no administrator where the budget's work is done."""
    people = organisation.people
    person = people.acting(by, system_user())
    place = owner if kind == "department" else people.departments.place_of(owner)
    if Role.ADMIN in people.roles_at(person, place):
        return person.id
    raise PermissionRefused(
        f"{person.name} may not give the budget of the {kind} {owner} more; it takes the role admin there.",
        person=person.id,
    )


def _row(each: Standing) -> BudgetRow:
    currency = each.budget.limits.money.currency if each.budget.limits.money else None
    told = {name: getattr(each, name) for name in ("most", "extra", "spent", "reserved", "left")}
    amounts = {name: shown(each.limit, some, currency) for name, some in told.items()}
    return BudgetRow(each.budget.name, each.window, each.limit.value, **amounts)
