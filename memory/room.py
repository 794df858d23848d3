"""The memory of one organisation: its book, what writes into it, searches it, lets it fade, and tells it as a whole."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from functools import cached_property
from pathlib import Path

from contracts import MemoryRecord, Name
from memory.consolidation.consolidator import Consolidator
from memory.consolidation.listening import ConversationListener
from memory.consolidation.opening import Opening
from memory.consolidation.pages import AutoMemoryPages
from memory.consolidation.project import ProjectNotes
from memory.files.pages import CurrentPages
from memory.files.places import root_of
from memory.personal.acting import weigher
from memory.personal.book import ProfileBook
from memory.personal.reader import ProfileReader
from memory.products.store import ProductStore
from memory.recall.recall import MemoryRecall
from memory.record_erasure import RecordErasure
from memory.records.book import MemoryBook
from memory.records.cycle import DecayCycle
from memory.writing.turns import TurnReader
from memory.writing.writer import MemoryWriter
from runtime.clock import Clock
from runtime.context.compress import Ask
from runtime.ledger.store import SqlStore
from runtime.search import Embedder
from runtime.settings import MemorySettings


class MemoryRoom:
    """All of them, on one store. It keeps nothing that the ledger does not tell, but what makes a search quick."""

    def __init__(
        self, store: SqlStore, organisation: Name, *, clock: Clock, settings: MemorySettings, home: Path,
        embedder: Embedder | None = None, ask: Ask | None = None, terms: Collection[str] = (),
    ) -> None:  # fmt: skip
        """Take over what it works with.

        Args:
            home: the home folder, below which people read and edit memories.
            embedder: what finds by meaning; None where words alone decide.
            ask: asks the model of the role `summarise`; None where there is none.
            terms: words of the organisation that not everybody knows, such as the names of its metrics.
        """
        self._store = store
        self._clock = clock
        self._settings = settings
        self._home = home
        self._embedder = embedder
        self._ask = ask
        self._terms = terms
        self.organisation = organisation
        self.files = root_of(home, organisation)
        self.book = MemoryBook(store, organisation, clock=clock, settings=settings)

    @cached_property
    def writer(self) -> MemoryWriter:
        """What writes."""
        return MemoryWriter(self.book, self._clock, self._settings)

    @cached_property
    def recall(self) -> MemoryRecall:
        """What searches."""
        return MemoryRecall(self.book, self._settings, self._embedder)

    @cached_property
    def profiles(self) -> ProfileBook:
        """What is known of how people like to be answered."""
        return ProfileBook(self._store, self.organisation, clock=self._clock, settings=self._settings)

    async def weigh(self, person: str) -> Callable[[MemoryRecord], float]:
        """Return how much memories count in searches for a person: the same for all where nothing is known of them."""
        return weigher(await self.profiles.get(person), self._settings)

    @cached_property
    def profile_reader(self) -> ProfileReader:
        """What notices that in conversations."""
        return ProfileReader(self.profiles, self._store.ledger, self.organisation, lambda: self._terms)

    @cached_property
    def turns(self) -> TurnReader:
        """What reads conversations."""
        return TurnReader(self.writer, self._store.ledger, self.organisation, self._settings)

    @cached_property
    def erasures(self) -> RecordErasure:
        """What takes the words of single records away."""
        return RecordErasure(self)

    @cached_property
    def cycle(self) -> DecayCycle:
        """What lets it fade."""
        return DecayCycle(self.book, self._store.ledger, self.organisation, self._settings)

    @cached_property
    def pages(self) -> CurrentPages:
        """What writes CURRENT.md."""
        return CurrentPages(self._store, self._clock, self._settings, self._home)

    async def write_pages(self, now: datetime) -> None:
        """Write CURRENT.md and AUTO-MEMORY.md as they are by now."""
        await self.pages.write(self.organisation)
        await self.auto_pages.write(now)

    async def flush_erased(self) -> None:
        """Take words that were erased out of the database's own file."""
        await self._store.reader.flush_erased()

    @cached_property
    def consolidator(self) -> Consolidator:
        """What tells it as a whole."""
        return Consolidator(
            self._store, self.book, self.organisation, clock=self._clock, settings=self._settings, ask=self._ask
        )

    @cached_property
    def auto_pages(self) -> AutoMemoryPages:
        """What writes AUTO-MEMORY.md."""
        return AutoMemoryPages(self.consolidator, self.organisation, self._settings, self._home)

    @cached_property
    def opening(self) -> Opening:
        """What a prompt begins with."""
        return Opening(self.consolidator, self._settings)

    @cached_property
    def products(self) -> ProductStore:
        """What was delivered."""
        return ProductStore(self._store, self.organisation, self._embedder)

    @cached_property
    def listener(self) -> ConversationListener:
        """What consolidates when a conversation begins."""
        ledger, notes = self._store.ledger, None
        if self._ask is not None:
            notes = ProjectNotes(ledger, self.writer, self._settings, self._ask)
        return ConversationListener(self.consolidator, ledger, self.organisation, self._settings, notes)
