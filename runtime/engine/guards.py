"""Guards against orders that lead to orders for ever; the system counts, never a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from contracts import ErrorCategory, Name, TaskOrder
from runtime.errors import SiliconError
from runtime.once import once_for_each
from runtime.settings.groups import EngineSettings


class RecursionStopped(SiliconError):
    """The chain of orders is too long, too deep or goes round."""

    code = "RECURSION_STOPPED"
    category = ErrorCategory.PERMISSION


def guard_chain(order: TaskOrder, settings: EngineSettings) -> None:
    """Return when the order may be carried out, judged by the orders above it.

    Levels of employees and nested plans are counted apart: consecutive orders of one employee are one level, and
    within a level each order is one plan nested in the one before.

    Raises:
        RecursionStopped: a limit is passed; the facts name the setting.
    """
    if len(order.chain) < _least(settings):  # no order counts more than once
        return
    for what, setting, most, count in _passed(order, settings):
        path = " → ".join(
            [*(f"{a.employee}/{a.skill or '-'}" for a in order.chain), f"{order.employee}/{order.skill or '-'}"]
        )
        raise RecursionStopped(
            f"{what}: {count}, and {most} is the limit (setting engine.{setting}). The chain is {path}. "
            f"Look for employees or skills that hand work to each other in a ring.",
            setting=f"engine.{setting}", limit=most, count=count, chain=path,
        )  # fmt: skip


@once_for_each(16)
def _least(settings: EngineSettings) -> int:
    """Return the smallest of the limits; a chain that is no longer passes none."""
    return min(
        settings.chain_length, settings.tree_depth, settings.same_employee_in_chain, settings.nesting_depth,
        settings.same_id_in_chain,
    )  # fmt: skip


def levels(order: TaskOrder) -> list[tuple[Name, int]]:
    """Return the employees from the top to the one who has the order, each with the plans nested on that level."""
    employees = [*(ancestor.employee for ancestor in order.chain), order.employee]
    return [(name, len(list(group))) for name, group in groupby(employees)]


def _passed(order: TaskOrder, settings: EngineSettings) -> Iterator[tuple[str, str, int, int]]:
    skills = [*(ancestor.skill for ancestor in order.chain), order.skill]
    there = levels(order)
    counts = (
        ("Orders in one chain", "chain_length", settings.chain_length, len(order.chain) + 1),
        ("Levels of employees", "tree_depth", settings.tree_depth, len(there)),
        (
            f"Times that {order.employee} is in the chain",
            "same_employee_in_chain", settings.same_employee_in_chain,
            sum(name == order.employee for name, _ in there),
        ),
        ("Plans nested in each other", "nesting_depth", settings.nesting_depth, there[-1][1]),
        (
            f"Times that the skill {order.skill} is in the chain",
            "same_id_in_chain", settings.same_id_in_chain,
            skills.count(order.skill) if order.skill is not None else 0,
        ),
    )  # fmt: skip
    for what, setting, most, count in counts:
        if count > most:
            yield what, setting, most, count
