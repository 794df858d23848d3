"""Questions that steps put to people, and their answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from console.api.asked import NewAnswer
from console.api.desk import Asking, AtDesk, query_of
from console.api.shown import Answered, QuestionList
from contracts import QuestionId
from contracts.ids import ULID_PATTERN

routes = APIRouter(prefix="/questions", tags=["questions"])
Ulid = Annotated[
    str,
    Path(
        alias="question",
        pattern=ULID_PATTERN,
        description="The question: the part of its id after the slash.",
        examples=["01JB0000000000000000000QST"],
    ),
]


@routes.get("", dependencies=[query_of()])
async def list_questions(desk: AtDesk, asking: Asking) -> QuestionList:
    """List the questions that wait for an answer, oldest first."""
    found = await desk.application.questions(organisation=asking.organisation)
    seen = [each for each in found if await desk.may_see(each.execution_id, asking)]
    return QuestionList(questions=tuple(seen))


@routes.post("/{question}/answer")
async def answer(ulid: Ulid, body: NewAnswer, desk: AtDesk, asking: Asking) -> Answered:
    """Answer a question; the execution that waits for it goes on once everything it asked is answered."""
    question_id = QuestionId(f"{QuestionId.KIND}/{ulid}")
    await desk.seen(await desk.application.execution_of(question_id), asking)
    execution_id = await desk.application.answer(question_id, body.value, by=asking.acts_as(body.as_))
    desk.wake(execution_id)
    return Answered(question_id=question_id, execution_id=execution_id)
