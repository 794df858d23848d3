"""Listens to conversations: one that begins lets its shelves be told anew, and every tenth turn its project's."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from contracts import Event, Name
from memory.consolidation.consolidator import Consolidation, Consolidator, Outcome
from memory.consolidation.project import ProjectNotes
from memory.consolidation.shelf import shelves_of_conversation
from memory.conversations import STARTED, TURN, Started, Turn
from runtime.errors import LedgerError, SiliconError, VersionConflict
from runtime.ledger.kept import kept_cursor
from runtime.ledger.port import Cursor, Ledger
from runtime.settings import MemorySettings

_log = logging.getLogger(__name__)
_AT_ONCE = 500
_PASSED_OVER = 2_000


@dataclass(slots=True)
class Heard:
    """What a look at the conversations came to."""

    consolidations: list[Consolidation]
    noted: int = 0
    """Memories that were written about projects."""


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
        self._cursor = f"memory/consolidation/{organisation}"

    async def catch_up(self) -> Heard:
        """Hear everything that was committed before this call; return what it came to.

        Raises:
            LedgerUnavailable: what is left is done the next time.
        """
        head, heard = await self._ledger.head(), Heard([])
        while True:
            saved = await kept_cursor(self._ledger, self._cursor) or Cursor(self._cursor, 0)
            if saved.position >= head:
                return heard
            events = await self._ledger.read_all(
                after=saved.position, until=head, types=(STARTED, TURN), limit=_AT_ONCE
            )
            mine = [event for event in events if event.organisation == self._organisation]
            if not mine and len(events) < _AT_ONCE and head - saved.position < _PASSED_OVER:
                return heard
            for event in _that_matter(mine, self._settings.project_turns):
                await self._hear(event, heard)
            upto = events[-1].position if len(events) == _AT_ONCE else head
            try:
                await self._ledger.append(cursors=[Cursor(self._cursor, upto, saved.position)])
            except VersionConflict:  # another process heard on: go on from there
                continue

    async def _hear(self, event: Event, heard: Heard) -> None:
        try:
            if event.type == STARTED:
                await self._begun(Started.of(event), heard)
            else:
                await self._tenth(event, heard)
        except LedgerError:
            raise
        except (SiliconError, KeyError, ValueError, TypeError) as error:  # one must not hold up the others
            _log.warning("%s at %d was not consolidated: %r", event.subject, event.position, error)

    async def _begun(self, started: Started | None, heard: Heard) -> None:
        if started is None:
            return
        for shelf in shelves_of_conversation(started):
            done = await self._consolidator.consolidate(shelf)
            if done.outcome is not Outcome.UNCHANGED:
                heard.consolidations.append(done)

    async def _tenth(self, event: Event, heard: Heard) -> None:
        turn = Turn.of(event)
        if turn is None or self._notes is None:
            return
        first = await self._ledger.read_versions(turn.conversation, [1])
        started = Started.of(first[0]) if first and first[0].type == STARTED else None
        if started is None or not (started.domain or started.project):
            return
        written = await self._notes.look(started, turn, event.stream_version)
        heard.noted += sum(each.record is not None for each in written)
        for shelf in shelves_of_conversation(started):
            if not shelf.is_global:
                heard.consolidations.append(await self._consolidator.consolidate(shelf))


def _that_matter(events: Sequence[Event], turns: int) -> list[Event]:
    """Return the conversations that began, and every tenth turn."""
    return [
        event
        for event in events
        if event.type == STARTED or (event.data is not None and _number(event) and _number(event) % turns == 0)
    ]


def _number(event: Event) -> int:
    number = (event.data or {}).get("turn")
    return number if isinstance(number, int) else 0
