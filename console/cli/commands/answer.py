"""`silicon answer`: answer a question that an execution waits for."""

from __future__ import annotations

from typing import Annotated

import typer

from console.cli.exits import exit_of
from console.cli.options import As, AsJson, Language, command
from console.cli.render.live import progress_shown, progress_so_far
from console.cli.render.outcome import outcome_data, outcome_lines
from console.cli.session import Session, conduct_executions, find_id
from console.ports_executions import Executions
from contracts import QuestionId

app = command()


@app.command()
def answer(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="The question; the first or last letters of its id suffice.")
    ],
    text: Annotated[str, typer.Argument(metavar="ANSWER", help="Your answer.")],
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question, and go on with the execution that waits for it."""

    async def work(session: Session, executions: Executions) -> int:
        question_id = await find_id(executions, QuestionId, question)
        execution_id = await executions.answer(question_id, text, by=as_)
        session.execution_id = str(execution_id)
        so_far = await progress_so_far(executions, execution_id)
        async with progress_shown(executions, session.output, session.watch, so_far) as watch:
            outcome = await executions.go_on(execution_id, watch=watch)
        session.output.data(outcome_data(outcome, session.output))
        session.output.show(*outcome_lines(outcome, session.output))
        return exit_of(outcome.state)

    conduct_executions(work, as_json=as_json, language=language)
