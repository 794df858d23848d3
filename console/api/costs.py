"""Costs: what work cost, by whom, for what, with which model."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from console.api.desk import Asking, AtDesk, query_of
from console.api.model import ApiModel
from console.seeing import sees_budget
from console.views_costs import BudgetRow, CostRow, CostTable
from contracts import Money, Name

routes = APIRouter(prefix="/costs", tags=["costs"])


class CostShown(ApiModel):
    """One sum."""

    key: str
    """What it is the sum of; empty: of what belongs to none of them."""
    tokens_in: int
    """Tokens sent to models."""
    tokens_out: int
    """Tokens received from models."""
    money: tuple[Money, ...] = ()
    """One entry for each currency, without calls whose price nobody knows."""
    seconds: float
    """Seconds of work."""
    steps: int
    """Steps finished."""
    unpriced: int
    """Calls and answers of models whose price nobody knows; they are in no sum of money."""

    @classmethod
    def of(cls, row: CostRow) -> CostShown:
        """Return what is shown of a sum."""
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class CostList(ApiModel):
    """Sums of the costs of an organisation."""

    organisation: str
    """Whose."""
    by: str
    """What they are told by."""
    since: date
    """First day, UTC."""
    until: date
    """Last day, UTC."""
    rows: tuple[CostShown, ...]
    """Days and departments in order, the others the dearest first. A department's sum holds all below it."""
    total: CostShown
    """Of everything."""

    @classmethod
    def of(cls, costs: CostTable) -> CostList:
        """Return what is shown of a table."""
        return cls(
            organisation=costs.organisation,
            by=costs.by,
            since=costs.since or date.min,
            until=costs.until or date.max,
            rows=tuple(map(CostShown.of, costs.rows)),
            total=CostShown.of(costs.total),
        )


class BudgetShown(ApiModel):
    """One limit of a budget of a department or process, in the period that is now."""

    budget: str
    """Its name: `department/desk/day`."""
    window: str
    """The period."""
    limit: str
    """`money`, `tokens` or `seconds`."""
    most: str
    """With what was added for this period."""
    extra: str
    """What was added for this period."""
    spent: str
    """What was spent."""
    reserved: str
    """Set aside, at its worst, for calls in progress."""
    left: str
    """What a call may still take."""

    @classmethod
    def of(cls, row: BudgetRow) -> BudgetShown:
        """Return what is shown of a limit."""
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class BudgetList(ApiModel):
    """The budgets of departments and processes."""

    budgets: tuple[BudgetShown, ...]
    """In the order of org.yaml, each limit for itself."""


By = Literal["step", "agent", "process", "department", "model", "day"]
Day = Annotated[date | None, Query(description="A day of UTC, included.", examples=["2026-12-01"])]


@routes.get("", dependencies=[query_of("organisation", "by", "since", "until")])
async def costs(
    desk: AtDesk,
    asking: Asking,
    *,
    by: Annotated[By, Query(description="What sums are told by.")] = "process",
    organisation: Annotated[Name | None, Query(description="Whose costs.")] = None,
    since: Day = None,
    until: Day = None,
) -> CostList:
    """Tell what work cost: tokens, money and seconds, of the last 30 days where nobody says since when.

    Who sees departments only is told of the work that is done there.
    """
    await desk.home_of(organisation, asking)
    name, sight = organisation or asking.organisation, desk.application.sight(asking)
    return CostList.of(await desk.application.costs(by=by, organisation=name, since=since, until=until, sight=sight))


@routes.get("/budgets", dependencies=[query_of("organisation")])
async def budgets(
    desk: AtDesk, asking: Asking, organisation: Annotated[Name | None, Query(description="Whose budgets.")] = None
) -> BudgetList:
    """Tell what departments and processes may still spend, and what is set aside for calls in progress."""
    folder = await desk.home_of(organisation, asking)
    sight = desk.application.sight(asking)
    rows = await desk.application.budgets(folder)
    return BudgetList(budgets=tuple(BudgetShown.of(row) for row in rows if sees_budget(sight, row.budget)))
