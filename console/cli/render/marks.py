"""The icon and colour of each state; the word beside them comes from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from console.views_system import Health
from contracts import OrderState
from runtime.texts import Say

HUMAN = "yellow"
"""Only for what waits for a person."""

MARKS: Mapping[str, tuple[str, str]] = {
    "pending": ("○", "dim"),
    "running": ("●", "cyan"),
    "waiting": ("◆", HUMAN),
    "done": ("✓", "green"),
    "partial": ("◐", "red"),
    "failed": ("✗", "red"),
    "cancelled": ("⊘", "dim"),
    "skipped": ("–", "dim"),
    "unfinished": ("○", "dim"),
    "open": ("◆", HUMAN),
    "approved": ("✓", "green"),
    "denied": ("✗", "red"),
    "expired": ("⊘", "dim"),
    "withdrawn": ("⊘", "dim"),
    "superseded": ("⊘", "dim"),
    "executed": ("✓", "green"),
    "execution_failed": ("✗", "red"),
    "undone": ("↶", "dim"),
}
"""State of an order, step or card → icon and style."""

HEALTH: Mapping[Health, tuple[str, str]] = {
    Health.GOOD: ("✓", "green"),
    Health.NOTE: ("○", "dim"),
    Health.BROKEN: ("✗", "red"),
}


def shown_state(state: OrderState, *, imported: bool) -> str:
    """Return the state of an execution under which it is shown: one that was imported waits for nobody here."""
    return "unfinished" if imported and not state.final else state.value


def icon(state: str) -> Text:
    """Return the icon of a state."""
    sign, style = MARKS[state]
    return Text(sign, style=style)


def word(state: str, say: Say) -> Text:
    """Return the word of a state."""
    return Text(say(f"state-{state}"), style=MARKS[state][1])
