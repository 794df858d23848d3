"""What an import does to the people who were asked: nothing of it can be decided or answered here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contracts import DecisionCard, Event, Question
from governance.approvals import fold_card
from governance.approvals.card import LAST_OF_OPEN
from governance.questions import ASKED
from runtime.errors import SiliconError
from runtime.executor import fold_execution
from runtime.keeping.errors import ArchiveRefused
from runtime.ledger.port import NewEvent, Stream
from runtime.ledger.rows import kind_of

if TYPE_CHECKING:
    from runtime.keeping.content import Content

_REASON = {"reason": "imported: it is decided where it was asked"}
_ASKED: Mapping[str, type[DecisionCard] | type[Question]] = {"card": DecisionCard, "question": Question}
"""Kind of stream → what its first event carries, under the name of the kind."""
_LAST_OF_OPEN = (*LAST_OF_OPEN, ASKED)
"""What happened last to a card or question that may still be open."""
_UNREADABLE = (SiliconError, AttributeError, LookupError, TypeError, ValueError)
"""What reading facts that somebody wrote by hand may raise."""


def closing_of(content: Content) -> list[tuple[Stream, NewEvent]]:
    """Return what is to be withdrawn with the import: each open card and question of the execution.

    Raises:
        ArchiveRefused: the execution in the file, or a card of it, cannot be read, or speaks for another execution.
    """
    streams: dict[Stream, list[Event]] = {}
    for event in content.events():
        streams.setdefault(event.subject, []).append(event)
    try:
        fold_execution(content.execution_id, streams[content.execution_id])
    except _UNREADABLE as error:
        raise _refused(content, str(content.execution_id), error) from error
    return [
        (stream, NewEvent(f"{kind_of(stream)}.withdrawn", _REASON))
        for stream, events in streams.items()
        if kind_of(stream) in _ASKED and _is_open(content, stream, events)
    ]


def _is_open(content: Content, stream: Stream, events: Sequence[Event]) -> bool:
    """Whether a card or question waits for a person; where some of it was erased, whether it may."""
    last = events[-1].type in _LAST_OF_OPEN
    if any(event.data is None for event in events):
        return last
    try:
        said: Any = (events[0].data or {})[kind_of(stream)]
        asked = _ASKED[kind_of(stream)].read(said)
        named = asked.card_id if isinstance(asked, DecisionCard) else asked.question_id
        if (named, asked.execution_id) != (stream, content.execution_id):
            raise ValueError("it speaks for another execution")
        return last and (not isinstance(asked, DecisionCard) or fold_card(events).is_open)
    except _UNREADABLE as error:
        raise _refused(content, stream, error) from error


def _refused(content: Content, what: str, error: Exception) -> ArchiveRefused:
    said = error.message if isinstance(error, SiliconError) else " ".join(str(error).split())[:300]
    return ArchiveRefused(
        f"The file {content.path} holds what cannot be shown here: {what}: {said}. Nothing was changed.",
        path=str(content.path),
    )
