"""Reads on what people say in conversations, and notes in their profiles how they ask and what they ask for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from contracts import Event, Name
from memory.conversations import STARTED, TURN, Speaker, Started, Turn
from memory.following import follow
from memory.personal.book import ProfileBook
from memory.personal.noticing import noticed
from runtime.ledger.port import Ledger

_log = logging.getLogger(__name__)
_AMONG = 12
"""Events of a conversation among which what its person said before is looked for."""


class ProfileReader:
    """The consumer of one organisation."""

    def __init__(
        self, book: ProfileBook, ledger: Ledger, organisation: Name, terms: Callable[[], Collection[str]] = tuple
    ) -> None:
        """Take over what it writes to; `terms` gives the words of the organisation that not everybody knows."""
        self._book = book
        self._ledger = ledger
        self._organisation = organisation
        self._terms = terms

    async def catch_up(self) -> int:
        """Read every turn that was committed before this call; return how many told something.

        Raises:
            LedgerUnavailable: what is left is done the next time.
        """
        told = 0

        async def hear(event: Event) -> None:
            nonlocal told
            try:
                told += await self._hear(event)
            except (KeyError, ValueError, TypeError) as error:  # one that cannot be read must not hold up the others
                _log.warning("%s at %d tells nothing of its person: %r", event.subject, event.position, error)

        await follow(self._ledger, f"memory/profile/{self._organisation}", self._organisation, (TURN,), hear)
        return told

    async def _hear(self, event: Event) -> bool:
        turn = Turn.of(event)
        if turn is None or turn.speaker is not Speaker.PERSON:
            return False
        first = await self._ledger.read_versions(event.subject, [1])
        started = Started.of(first[0]) if first and first[0].type == STARTED else None
        if started is None:
            return False
        around = range(max(2, event.stream_version - _AMONG), event.stream_version)
        before = [
            Turn.of(each) for each in await self._ledger.read_versions(event.subject, around) if each.type == TURN
        ]
        said = [each for each in before if each is not None and each.speaker is Speaker.PERSON]
        notices = list(noticed(turn, said, terms=self._terms(), domain=started.domain))
        return await self._book.notice(started.person, turn, notices)
