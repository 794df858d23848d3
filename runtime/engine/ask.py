"""Steps that a person answers."""

from __future__ import annotations

from typing import Any

from contracts import Step
from runtime.bindings import resolve
from runtime.engine.context import Run
from runtime.engine.finish import Draft
from runtime.engine.pause import Pause
from runtime.engine.questions import answer_to, new_question, question_append
from runtime.engine.scope import Scope
from runtime.engine.view import Unit


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
    return Draft({"answer": answer.value}, started_at=run.clock.now(), seconds=0.0)
