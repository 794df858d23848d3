"""Whether what was approved took place, as the orders that did it tell."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from contracts import Event
from governance.approvals.card import CardView, Use
from runtime.ledger.port import Ledger

ENDINGS = ("step.finished", "step.failed", "call.finished", "call.failed")
"""Events of an order that tell how an effect ended."""
_INTENDED = ("effect.intended", "call.intended")


class Took(StrEnum):
    """How an effect stands."""

    PLACE = "place"
    FAILED = "failed"
    PENDING = "pending"


def how_it_went(events: Sequence[Event], key: str) -> tuple[Took, str]:
    """Return how the effect with that key stands after the order's events, and why where it failed.

    The newest attempt counts; a failure says so whether or not the effect happened, for somebody has to look then.
    """
    unit: tuple[object, ...] | None = None
    took, why = Took.PENDING, ""
    for event in events:
        data = event.data or {}
        here = (data.get("step"), data.get("index"), data.get("call"))
        if event.type in _INTENDED and data.get("key") == key:
            unit, took, why = here, Took.PENDING, ""
        elif event.type in ENDINGS and unit is not None and here == unit:
            if event.type == "step.failed" and not data.get("final"):
                continue  # it is tried again
            took = Took.PLACE if event.type.endswith(".finished") else Took.FAILED
            problem = data.get("problem")
            why = str(problem.get("message", "")) if isinstance(problem, dict) else ""
    return took, why


async def became_of(ledger: Ledger, view: CardView) -> tuple[str, dict[str, object]] | None:
    """Return the event that tells what became of what was approved, or of taking it back; None while it is open."""
    option, back = view.chosen, view.back is not None
    uses = [use for use in view.used_by if use.back is back]
    if option is None or not uses:
        return None
    went = [await _one(ledger, use) for use in uses]
    failed = next((why for took, why in went if took is Took.FAILED), None)
    if failed is not None:
        return None if back else ("card.execution_failed", {"reason": failed})
    done = {use.action for use, (took, _) in zip(uses, went, strict=True) if took is Took.PLACE}
    if len(done) < len(option.undo if back else option.actions):
        return None
    return ("card.undone" if back else "card.executed", {})


async def _one(ledger: Ledger, use: Use) -> tuple[Took, str]:
    return how_it_went(await ledger.read(use.order_id), use.key)
