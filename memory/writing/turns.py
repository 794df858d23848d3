"""Reads on what people say in conversations, and writes down what is worth remembering of it.

A consumer of the ledger with a cursor. Each sentence has a name that follows from its turn, so that whoever reads a
turn again after a crash, or beside another process, writes nothing twice.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from contracts import Event, HolderKind, MemoryHolder, MemoryId, MemorySource, Name
from memory.conversations import STARTED, TURN, Speaker, Started, Turn
from memory.following import follow
from memory.records.port import MemoryDraft
from memory.writing.extracting import Candidate, candidates
from memory.writing.writer import MemoryWriter, Written
from runtime.errors import InvalidArguments
from runtime.ledger.port import Ledger
from runtime.settings import MemorySettings

_AT_ONCE = 500
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of one sentence."""

    turn: Turn
    sentence: str
    written: Written


class TurnReader:
    """The consumer of one organisation."""

    def __init__(self, writer: MemoryWriter, ledger: Ledger, organisation: Name, settings: MemorySettings) -> None:
        self._writer = writer
        self._ledger = ledger
        self._organisation = organisation
        self._settings = settings
        self._cursor = f"memory/turns/{organisation}"
        self._started: dict[str, Started | None] = {}

    async def catch_up(self) -> list[Remembered]:
        """Take in every turn that was committed before this call; return what became of each sentence.

        Raises:
            LedgerUnavailable: what is left is done the next time.
        """
        found: list[Remembered] = []

        async def hear(event: Event) -> None:
            turn = _turn_of(event)
            if turn is not None and turn.speaker is Speaker.PERSON:
                found.extend(await self.read(turn))

        await follow(self._ledger, self._cursor, self._organisation, (TURN,), hear)
        return found

    async def read(self, turn: Turn) -> Sequence[Remembered]:
        """Write what is worth remembering of one turn."""
        started = await self._began(turn.conversation)
        if started is None:
            return ()
        found = []
        for number, candidate in enumerate(candidates(turn.text)):
            if not candidate.features:
                continue
            try:
                written = await self._writer.write(
                    _draft(candidate, turn, started, number), candidate.features, by=started.person, shown=turn.recalled
                )
            except InvalidArguments as error:  # such as a value that is too long: the sentence is none to remember
                _log.info("a sentence of %s is not remembered: %s", turn.conversation, error)
                continue
            found.append(Remembered(turn, candidate.text, written))
        return found

    async def _began(self, conversation: str) -> Started | None:
        """Return how a conversation began, which says whose it is; None where that is not known any more."""
        if conversation not in self._started:
            if len(self._started) > _AT_ONCE:
                self._started.clear()
            first = (await self._ledger.read_versions(conversation, [1]))[:1]
            self._started[conversation] = Started.of(first[0]) if first and first[0].type == STARTED else None
        return self._started[conversation]


def _turn_of(event: Event) -> Turn | None:
    """Return what an event says; None for one that says nothing that can be read: it must not hold up the others."""
    try:
        return Turn.of(event)
    except (KeyError, ValueError, TypeError) as error:
        _log.warning("%s at %d is no turn that can be read: %r", event.subject, event.position, error)
        return None


def _draft(candidate: Candidate, turn: Turn, started: Started, number: int) -> MemoryDraft:
    """Return the memory of a sentence: of the person who said it, and of nobody else."""
    return MemoryDraft(
        candidate.text, candidate.kind, candidate.memory_class,
        MemoryHolder(kind=HolderKind.PERSON, name=started.person), subject=candidate.subject,
        relation=candidate.relation, value=candidate.value, domain=started.domain, project=started.project,
        session=turn.conversation, intent=turn.intent, entities=candidate.entities,
        source=MemorySource(position=turn.position, conversation=turn.conversation, turn=turn.number),
        memory_id=MemoryId.under(turn.at, turn.conversation, str(turn.number), str(number)),
    )  # fmt: skip
