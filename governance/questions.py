"""Questions that steps put to people: which are open, and their answers, each given once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from contracts import Answer, Event, Question, QuestionId
from governance.access import People, Person
from governance.errors import CardClosed, NotAllowedToDecide
from runtime.canonical import clean
from runtime.clock import Clock
from runtime.errors import InvalidArguments, NotFound, VersionConflict
from runtime.ledger.port import Append, NewEvent, Store

ASKED = "question.asked"


class QuestionDesk:
    """The questions of all organisations in one store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._ledger = store.ledger
        self._clock = clock

    async def open_questions(self) -> list[Question]:
        """Return the questions that wait for an answer and are not expired, oldest first."""
        now = self._clock.now()
        streams = await self._ledger.streams("question", last_types=(ASKED,))
        asked = [_question(stream, await self._ledger.read(stream)) for stream in streams]
        return [question for question in asked if not _is_late(question, now)]

    async def get(self, question_id: QuestionId) -> Question:
        """Return one question; raise NotFound when there is none."""
        return _question(question_id, await self._ledger.read(question_id))

    async def answer(self, question_id: QuestionId, value: str, *, person: Person, people: People) -> Answer:
        """Record the answer; the first one counts.

        Raises:
            NotFound: there is no such question.
            CardClosed: it was answered already, or its time has passed.
            NotAllowedToDecide: somebody else was asked.
            InvalidArguments: the question allows other answers only.
        """
        events = await self._ledger.read(question_id)
        question = _question(question_id, events)
        self._check(question, events, value, person, people)
        answer = Answer(question_id=question_id, value=clean(value), by=person.id, at=self._clock.now())
        append = Append(
            stream=question_id,
            events=(NewEvent("question.answered", {"answer": answer.to_json()}),),
            expected_version=len(events),
            organisation=events[0].organisation,
            source=f"/organisation/{events[0].organisation}/questions",
            execution_id=question.execution_id,
            trace_id=events[0].trace_id,
        )
        try:
            await self._ledger.append(append)
        except VersionConflict:
            raise _closed(question, await self._ledger.read(question_id)) from None
        return answer

    def _check(self, question: Question, events: Sequence[Event], value: str, person: Person, people: People) -> None:
        if len(events) > 1 or _is_late(question, self._clock.now()):
            raise _closed(question, events)
        asked = question.who
        if asked is not None and person.id not in {member.id for member in people.members(asked)}:
            raise NotAllowedToDecide(f"{person.name} is not asked here; this question is for {asked}.", who=asked)
        if question.choices and value not in question.choices:
            raise InvalidArguments(
                f"{value!r} is not an answer here. Choose one of {', '.join(question.choices)}.",
                choices=list(question.choices),
            )


def _question(question_id: str, events: Sequence[Event]) -> Question:
    if not events or events[0].data is None:
        raise NotFound(f"There is no {question_id}.", id=question_id)
    return Question.read(events[0].data["question"])  # type: ignore[arg-type]


def _is_late(question: Question, now: datetime) -> bool:
    return question.deadline is not None and now >= question.deadline


def _closed(question: Question, events: Sequence[Event]) -> CardClosed:
    for event in events:
        if event.type == "question.answered" and event.data is not None:
            answer = Answer.read(event.data["answer"])  # type: ignore[arg-type]
            return CardClosed(
                f"{question.question_id} was answered by {answer.by} at {answer.at:%Y-%m-%d %H:%M} UTC. "
                "Nothing was changed.",
                id=question.question_id, by=answer.by,
            )  # fmt: skip
    return CardClosed(f"{question.question_id} expired; nobody answered in time.", id=question.question_id)
