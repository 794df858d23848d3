"""What an execution that stopped at a limit has, what is missing, and with which command it goes on."""

from __future__ import annotations

from collections.abc import Iterator

from console.budgets import budget_as_text
from console.cli.render.facts import Pair
from console.cli.words import command_line
from contracts import ExecutionId, Extension, StepLeft
from runtime.engine.amounts import amounts_of, budget_of
from runtime.texts import Say

NAMES = 12
"""Steps that are named; the others are counted."""


def extension_pairs(asks: Extension, say: Say) -> Iterator[Pair]:
    """Yield what is done and what is missing."""
    if asks.done:
        yield say("outcome-done"), _some(list(asks.done), say)
    if asks.missing:
        yield say("outcome-missing"), _some([_left(each, say) for each in asks.missing], say)


def go_on_command(asks: Extension, execution_id: ExecutionId) -> str:
    """Return the command that gives it what it asks for, everything that it was allowed before included."""
    had, more = amounts_of(asks.had), amounts_of(asks.asked)
    currency = asks.had.money.currency if asks.had.money else None
    whole = budget_of({limit: had[limit] + some for limit, some in more.items() if limit in had and some}, currency)
    options = [word for name, text in budget_as_text(whole).items() for word in (f"--budget-{name}", text)]
    return command_line("resume", execution_id, *options)


def _left(left: StepLeft, say: Say) -> str:
    if left.missing is None:
        return left.step
    if not left.done and left.missing == 1:
        return left.step
    return say("outcome-part", step=left.step, missing=left.missing, whole=left.done + left.missing)


def _some(names: list[str], say: Say) -> str:
    more = len(names) - NAMES
    return ", ".join([*names[:NAMES], *([say("outcome-steps-more", count=more)] if more > 0 else [])])
