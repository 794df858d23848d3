"""Listens to conversations: one that begins lets its shelves be told anew, every tenth turn its project's."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from contracts import Event, Name
from memory.consolidation.consolidator import Consolidation, Consolidator, Outcome
from memory.consolidation.project import ProjectNotes
from memory.consolidation.shelf import Shelf, shelves_of_conversation
from memory.conversations import ENDED, STARTED, TURN, Started, Turn
from memory.following import follow
from runtime.errors import LedgerError, SiliconError
from runtime.ledger.port import Ledger
from runtime.settings import MemorySettings

_log = logging.getLogger(__name__)
_BEFORE_END = 50
"""Events before the end of a conversation among which its last turn is looked for."""


@dataclass(slots=True)
class Heard:
    """What a look at the conversations came to."""

    consolidations: list[Consolidation]
    noted: int = 0
    """Memories that were written about projects."""
    begun: set[Shelf] = field(default_factory=set)
    """Told already for a conversation that began: for others that began as well, once does."""


class ConversationListener:
    """The consumer of one organisation: any process may have one, and what is heard twice changes nothing."""

    def __init__(
        self, consolidator: Consolidator, ledger: Ledger, organisation: Name, settings: MemorySettings,
        notes: ProjectNotes | None = None,
    ) -> None:  # fmt: skip
        self._consolidator = consolidator
        self._ledger = ledger
        self._organisation = organisation
        self._settings = settings
        self._notes = notes

    async def catch_up(self) -> Heard:
        """Hear everything that was committed before this call; return what it came to.

        Raises:
            LedgerUnavailable: what is left is done the next time.
        """
        heard = Heard([])

        async def hear(event: Event) -> None:
            if event.type != TURN or _number(event) % self._settings.project_turns == 0:
                await self._hear(event, heard)

        await follow(
            self._ledger, f"memory/consolidation/{self._organisation}", self._organisation, (STARTED, TURN, ENDED), hear
        )
        return heard

    async def _hear(self, event: Event, heard: Heard) -> None:
        try:
            if event.type == STARTED:
                await self._begun(Started.of(event), heard)
            elif event.type == TURN:
                await self._tenth(event, heard)
            else:
                await self._ended(event, heard)
        except LedgerError:
            raise
        except (SiliconError, KeyError, ValueError, TypeError) as error:  # one must not hold up the others
            _log.warning("%s at %d was not consolidated: %r", event.subject, event.position, error)

    async def _begun(self, started: Started | None, heard: Heard) -> None:
        if started is None:
            return
        for shelf in shelves_of_conversation(started):
            if shelf in heard.begun:
                continue
            heard.begun.add(shelf)
            done = await self._consolidator.consolidate(shelf)
            if done.outcome is not Outcome.UNCHANGED:
                heard.consolidations.append(done)

    async def _tenth(self, event: Event, heard: Heard) -> None:
        turn = Turn.of(event)
        if turn is not None and self._notes is not None:
            await self._look(self._notes, turn, event.stream_version, heard)

    async def _ended(self, event: Event, heard: Heard) -> None:
        """Make up for a look that was due and could not be made: no later turn will."""
        if self._notes is None:
            return
        last = range(max(1, event.stream_version - _BEFORE_END), event.stream_version)
        said = [each for each in await self._ledger.read_versions(event.subject, last) if each.type == TURN]
        turn = Turn.of(said[-1]) if said else None
        if turn is not None and await self._notes.missed(turn):
            await self._look(self._notes, turn, said[-1].stream_version, heard)

    async def _look(self, notes: ProjectNotes, turn: Turn, version: int, heard: Heard) -> None:
        first = await self._ledger.read_versions(turn.conversation, [1])
        started = Started.of(first[0]) if first and first[0].type == STARTED else None
        if started is None or not (started.domain or started.project):
            return
        written = await notes.look(started, turn, version)
        heard.noted += sum(each.record is not None for each in written)
        for shelf in shelves_of_conversation(started):
            if not shelf.is_global:
                heard.consolidations.append(await self._consolidator.consolidate(shelf))


def _number(event: Event) -> int:
    """Return which turn it is; 1 for one that does not say."""
    number = (event.data or {}).get("turn")
    return number if isinstance(number, int) and number > 0 else 1
