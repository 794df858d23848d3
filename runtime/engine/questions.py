"""Questions to people: each has an id and a stream of its own, and is answered once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from contracts import Answer, Question, QuestionId, Step
from runtime.clock import Clock
from runtime.engine.context import Run, clean_data
from runtime.engine.react.state import Call
from runtime.engine.view import Unit
from runtime.errors import BusinessRefusal
from runtime.ledger.port import Append, Ledger, NewEvent


class QuestionExpired(BusinessRefusal):
    """Nobody answered in time, which is neither a yes nor a no."""

    code = "QUESTION_EXPIRED"


def new_question(
    run: Run, step: Step, *, text: Any, choices: tuple[str, ...], who: str | None = None, within_s: float | None = None
) -> Question:
    """Return a question that this step puts to a person, with a fresh id."""
    now = run.clock.now()
    return Question(
        question_id=QuestionId.new(),
        execution_id=run.order.execution_id,
        order_id=run.order.order_id,
        step=step.id,
        text=text,
        who=who,
        choices=choices,
        asked_at=now,
        deadline=None if within_s is None else now + timedelta(seconds=within_s),
    )


def question_append(run: Run, question: Question) -> Append:
    """Return the append that begins the question's own stream."""
    order = run.order
    return Append(
        stream=str(question.question_id),
        events=[NewEvent("question.asked", clean_data({"question": run.journal.redact(question)}))],
        expected_version=0,
        organisation=order.organisation,
        source=f"/organisation/{order.organisation}/employee/{order.employee}",
        execution_id=order.execution_id,
        trace_id=order.trace_id,
    )


async def answer_to(run: Run, unit: Unit | Call) -> Answer | None:
    """Return the answer to the question that the unit, or a model's call, waits for, or None while there is none.

    Raises:
        QuestionExpired: the deadline passed without an answer.
    """
    return await read_answer(run.ledger, QuestionId(unit.waiting[0]), run.clock, step=unit.step)


async def read_answer(ledger: Ledger, question_id: QuestionId, clock: Clock, *, step: str) -> Answer | None:
    """Return the answer to a question of a step, or None while there is none; raises as `answer_to`."""
    question: Question | None = None
    expired = False
    for event in await ledger.read(question_id):
        data = event.data or {}
        if event.type == "question.asked":
            question = Question.read(data["question"])  # type: ignore[arg-type]
        elif event.type == "question.answered":
            return Answer.read(data["answer"])  # type: ignore[arg-type]
        elif event.type == "question.expired":
            expired = True
    late = question is not None and question.deadline is not None and clock.now() >= question.deadline
    if expired or late:
        raise QuestionExpired(
            f"Nobody answered the question of step {step} in time. Nothing was taken for granted.",
            question=question_id,
        )
    return None
