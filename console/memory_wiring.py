"""Puts together what an organisation remembers with: its store, its embedder, and the model that consolidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from agents.organisation import Organisation
from console.choosing import SkillChoices
from console.texts import say_in
from governance.approvals import ApprovalGateway
from governance.disputed_memories import DisputeCards
from memory.knowledge_capability import KnowledgeOpen
from memory.memory_capabilities import MemorySearch, MemoryWrite
from memory.product_capability import ProductSearch
from runtime.capabilities.port import Capability
from runtime.clock import Clock
from runtime.context.compress import ROLE
from runtime.ledger.port import Ledger, Store
from runtime.model.naming import names_in
from runtime.model.opening import Models
from runtime.search import Embedder
from runtime.settings import MemorySettings
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


def memory_capabilities(
    organisation: Organisation, ledger: Ledger, settings: MemorySettings, *, gateway: ApprovalGateway, clock: Clock,
    memory: Callable[[], MemoryRoom], embedder: Callable[[], Embedder | None],
) -> Sequence[Capability]:  # fmt: skip
    """Return what employees can do with memories, knowledge and products; nothing is opened before it is called."""

    def manages(employee: str) -> bool:
        node = organisation.employees.get(employee)
        return node is not None and bool(node.manages)

    async def is_there(stream: str) -> bool:
        return bool(await ledger.read_newest(stream))

    disputes = DisputeCards(gateway, organisation.approvals, organisation.name, clock, say_in)
    return (
        MemorySearch(lambda: memory().recall, lambda: memory().book, lambda: memory().weigh),
        MemoryWrite(
            lambda: memory().writer, lambda: memory().recall, manages, disputes=disputes, asked_already=is_there
        ),
        ProductSearch(lambda: memory().products),
        KnowledgeOpen(organisation.knowledge, ledger, settings, embedder),
    )
