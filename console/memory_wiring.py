"""Puts together what an organisation remembers with: its store, its embedder, and the model that consolidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from agents.organisation import Organisation
from console.choosing import SkillChoices
from runtime.clock import Clock
from runtime.context.compress import ROLE
from runtime.ledger.port import Store
from runtime.model.naming import names_in
from runtime.model.opening import Models
from runtime.settings.load import Settings

if TYPE_CHECKING:
    from memory.room import MemoryRoom
    from runtime.context.compress import Ask
    from runtime.ledger.store import SqlStore


def memory_room(
    organisation: Organisation, store: Store, settings: Settings, *, clock: Clock, models: Models,
    choices: SkillChoices,
) -> MemoryRoom:  # fmt: skip
    """Return the memory of an organisation; models are those that its folder and the settings name now."""
    from memory.room import MemoryRoom  # it imports SQLAlchemy, which takes 0.4 s, and what searches

    names = names_in(settings.model, organisation.models)
    ask: Ask | None = None
    if ROLE in names:
        model = models.for_run(organisation.name, names, organisation.prices)
        ask = None if model is None else model.ask
    return MemoryRoom(
        cast("SqlStore", store), organisation.name, clock=clock, settings=settings.memory, home=settings.home,
        embedder=choices.embedder(organisation, names), ask=ask, terms=tuple(organisation.metrics),
    )  # fmt: skip
