"""Budgets as a person gives them: read from text, and written as it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from contracts import Budget, Json, Money
from runtime.errors import InvalidArguments

NO_BUDGET: Mapping[str, str] = MappingProxyType({})
"""Leaves the budget as it is."""
LIMITS = ("seconds", "steps", "tokens", "money")
"""What a budget may limit."""


def read_budget(given: Mapping[str, str]) -> Budget:
    """Return the budget that `seconds`, `steps`, `tokens`, `money` → text mean."""
    faults: list[Json] = []
    try:
        return Budget(
            seconds=float(given["seconds"]) if "seconds" in given else None,
            steps=int(given["steps"]) if "steps" in given else None,
            tokens=int(given["tokens"]) if "tokens" in given else None,
            money=Money.parse(given["money"]) if "money" in given else None,
        )
    except ValueError:
        faults = [f"{name}={value}" for name, value in given.items()]
    raise InvalidArguments(
        f"The budget cannot be read ({', '.join(map(str, faults))}). Seconds, steps and tokens are numbers above zero, "
        "money is written as '5 USD'.",
        faults=faults,
    )


def budget_as_text(budget: Budget) -> dict[str, str]:
    """Return what `read_budget` reads as this budget."""
    return {name: str(limit) for name in LIMITS if (limit := getattr(budget, name)) is not None}
