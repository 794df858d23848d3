"""Budgets of departments and processes: what they name is there, and nothing has two for one period."""

from __future__ import annotations

from collections.abc import Iterator

from agents.organisation.budget_files import doubled
from agents.organisation.declared import nearest
from agents.organisation.draft import Draft
from agents.organisation.fault import Fault


def budget_faults(draft: Draft) -> Iterator[Fault]:
    """Yield the faults of every budget."""
    if draft.org is None:
        return
    org, entries = draft.org, draft.org.value.budgets
    for number, entry in enumerate(entries):
        kind, owner = entry.owner
        there = draft.employees if kind == "department" else draft.skills
        if owner not in there:
            what = "employee" if kind == "department" else "skill"
            yield org.fault(("budgets", number, kind), f"There is no {what} `{owner}`.", nearest(owner, there))
    for number in doubled(entries):
        kind, owner = entries[number].owner
        what = f"The {kind} `{owner}` has a budget for a {entries[number].per.value} already."
        yield org.fault(("budgets", number), what, "Put the limits into one.")
