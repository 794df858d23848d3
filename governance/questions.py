"""Questions that steps put to people: which are open, and their answers, each given once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from contracts import Answer, Event, Name, Question, QuestionId
from governance.access import People, Person, Role
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
        asked: list[Question] = []
        for stream in streams:
            with suppress(NotFound):  # pruned since it was listed, or its text was erased: nobody can answer it
                asked.append(_question(stream, await self._ledger.read(stream)))
        return [question for question in asked if not _is_late(question, now)]

    async def get(self, question_id: QuestionId) -> Question:
        """Return one question; raise NotFound when there is none."""
        return _question(question_id, await self._ledger.read(question_id))

    async def answer(
        self, question_id: QuestionId, value: str, *, person: Person, people: People, place: Name | None = None
    ) -> Answer:
        """Record the answer; the first one counts. `place` is the employee whose department the question belongs to.

        Raises:
            NotFound: there is no such question.
            CardClosed: it was answered already, or its time has passed.
            NotAllowedToDecide: somebody else was asked, or nobody by name and this person may only look.
            InvalidArguments: the question allows other answers only.
        """
        events = await self._ledger.read(question_id)
        question = _question(question_id, events)
        self._check(question, events, value, person, people, place)
        answer = Answer(question_id=question_id, value=clean(value), by=person.id, at=self._clock.now())
        answered = NewEvent("question.answered", {"answer": answer.to_json()})
        try:
            await self._ledger.append(self._append(events[0], len(events), answered))
        except VersionConflict:
            raise _closed(question, await self._ledger.read(question_id)) from None
        return answer

    async def judge(self, question_id: QuestionId, now: datetime) -> None:
        """Let the question expire when nobody answered it in time; an answer that comes at the same moment counts."""
        events = await self._ledger.read(question_id)
        question = _question(question_id, events)
        if len(events) > 1 or not _is_late(question, now):
            return
        expired = NewEvent("question.expired", {"deadline": clean(question.deadline)})
        with suppress(VersionConflict):
            await self._ledger.append(self._append(events[0], 1, expired))

    async def withdraw(self, question_id: QuestionId, reason: str) -> None:
        """Take the question back: what waited for it will not go on. One that is closed stays as it is."""
        events = await self._ledger.read(question_id)
        if len(events) != 1:
            return
        with suppress(VersionConflict):  # it was answered at the same moment
            await self._ledger.append(self._append(events[0], 1, NewEvent("question.withdrawn", {"reason": reason})))

    def _append(self, first: Event, version: int, event: NewEvent) -> Append:
        return Append(
            stream=first.subject,
            events=(event,),
            expected_version=version,
            organisation=first.organisation,
            source=f"/organisation/{first.organisation}/questions",
            execution_id=first.execution_id,
            trace_id=first.trace_id,
        )

    def _check(  # noqa: PLR0917  (one question, one answer)
        self,
        question: Question,
        events: Sequence[Event],
        value: str,
        person: Person,
        people: People,
        place: Name | None,
    ) -> None:
        if len(events) > 1 or _is_late(question, self._clock.now()):
            raise _closed(question, events)
        asked = question.who
        held = people.roles_at(person, place)
        if not held:
            raise NotAllowedToDecide(f"{person.name} has no role in the department that asks.", who=asked)
        if asked is None and held <= {Role.VIEWER}:
            raise NotAllowedToDecide(f"{person.name} may look but not act, and is not asked by name here.", who=None)
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
        if event.type == "question.withdrawn":
            why = (event.data or {}).get("reason")
            return CardClosed(f"{question.question_id} was withdrawn: {why}. Nothing was changed.", id=event.subject)
    return CardClosed(f"{question.question_id} expired; nobody answered in time.", id=question.question_id)
