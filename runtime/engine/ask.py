"""Questions to people: each has an id and a stream of its own, and is answered once."""

from __future__ import annotations

from typing import Any

from contracts import Answer, Question, Step, Usage
from runtime.bindings import resolve
from runtime.engine.context import Run
from runtime.engine.finish import Draft, new_question, question_append
from runtime.engine.pause import Pause
from runtime.engine.scope import Scope
from runtime.engine.view import Unit
from runtime.errors import BusinessRefusal


class QuestionExpired(BusinessRefusal):
    """Nobody answered in time, which is neither a yes nor a no."""

    code = "QUESTION_EXPIRED"


async def ask_person(run: Run, step: Step, unit: Unit, scope: Scope) -> Draft | Pause:
    """Ask, or go on with the answer, which becomes the output `{answer}`.

    Raises:
        QuestionExpired: the deadline passed without an answer.
    """
    template = step.ask
    assert template is not None
    if not unit.waiting:
        text: Any = resolve(template.text, scope.values)  # type: ignore[arg-type]
        choices = [str(resolve(choice, scope.values)) for choice in template.choices]
        question = new_question(
            run,
            step,
            text=text,
            choices=tuple(choices),
            who=template.who,
            within_s=template.within_s,
        )
        return Pause((question.question_id,), appends=[question_append(run, question)])
    answer = await answer_to(run, unit)
    if answer is None:
        return Pause(unit.waiting)
    return Draft({"answer": answer.value}, started_at=run.clock.now(), seconds=0.0, usage=Usage(steps=1))


async def answer_to(run: Run, unit: Unit) -> Answer | None:
    """Return the answer to the question that the unit waits for, or None while there is none.

    Raises:
        QuestionExpired: the deadline passed without an answer.
    """
    question: Question | None = None
    expired = False
    for event in await run.ledger.read(unit.waiting[0]):
        data = event.data or {}
        if event.type == "question.asked":
            question = Question.read(data["question"])  # type: ignore[arg-type]
        elif event.type == "question.answered":
            return Answer.read(data["answer"])  # type: ignore[arg-type]
        elif event.type == "question.expired":
            expired = True
    late = question is not None and question.deadline is not None and run.clock.now() >= question.deadline
    if expired or late:
        raise QuestionExpired(
            f"Nobody answered the question of step {unit.step} in time. Nothing was taken for granted.",
            question=unit.waiting[0],
        )
    return None
