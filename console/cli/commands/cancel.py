"""`silicon cancel`: end an execution and everything below it, or one branch of it."""

from __future__ import annotations

from typing import Annotated

import typer

from console.cli.exits import Exit, exit_of
from console.cli.options import As, AsJson, Language, command
from console.cli.render.outcome import outcome_data, outcome_lines
from console.cli.session import Session, conduct_executions, find_id
from console.ports_executions import Executions
from contracts import ExecutionId, OrderState

app = command()


@app.command()
def cancel(
    execution: Annotated[str, typer.Argument(metavar="ID", help="The execution; its first or last letters suffice.")],
    branch: Annotated[
        str | None, typer.Option(metavar="PATH", help="Only this branch of a parallel group, like look/first.")
    ] = None,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Cancel an execution, or one branch of it; declared compensations run, the ledger stays whole."""

    async def work(session: Session, executions: Executions) -> int:
        execution_id = await find_id(executions, ExecutionId, execution)
        outcome = await executions.cancel(execution_id, by=as_, branch=branch)
        session.output.data(outcome_data(outcome, session.output))
        if outcome.branch_ended:
            session.output.note(session.say("cancel-branch-ended", branch=branch or ""))
        elif branch is not None and outcome.state is OrderState.RUNNING:
            session.output.note(session.say("cancel-branch-told", branch=branch))
        elif branch is not None and outcome.state is not OrderState.RUNNING:
            session.output.note(session.say("cancel-branch", branch=branch))
        elif outcome.state is OrderState.RUNNING:
            session.output.note(session.say("cancel-told"))
        elif outcome.state is OrderState.WAITING:
            session.output.note(session.say("cancel-in-doubt"))
        elif outcome.state is not OrderState.CANCELLED:
            session.output.note(session.say("cancel-too-late"))
        session.output.show(*outcome_lines(outcome, session.output))
        if outcome.branch_ended:
            return Exit.FAILED
        if branch is not None:
            return Exit.DONE if outcome.state is OrderState.RUNNING else exit_of(outcome.state)
        if outcome.state is OrderState.WAITING:
            return Exit.WAITING
        return Exit.DONE if outcome.state in (OrderState.CANCELLED, OrderState.RUNNING) else Exit.FAILED

    conduct_executions(work, as_json=as_json, language=language)
