"""`silicon resume`: go on with an execution where it stood."""

from __future__ import annotations

from typing import Annotated

import typer

from console.cli.exits import exit_of
from console.cli.options import As, AsJson, Costs, Engine, Language, Seconds, Steps, Tokens, command, limits
from console.cli.render.live import progress_shown, progress_so_far
from console.cli.render.outcome import outcome_data, outcome_lines
from console.cli.session import Session, conduct_executions, find_id
from console.ports_executions import Executions
from contracts import ExecutionId

app = command()


@app.command()
def resume(
    execution: Annotated[str, typer.Argument(metavar="ID", help="The execution; its first or last letters suffice.")],
    *,
    budget_seconds: Seconds = None,
    budget_steps: Steps = None,
    budget_tokens: Tokens = None,
    budget_money: Costs = None,
    as_: As = None,
    engine: Engine = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Go on where an execution stood; finished steps never run again."""
    budget = limits(budget_seconds, budget_steps, budget_tokens, budget_money)

    async def work(session: Session, executions: Executions) -> int:
        execution_id = await find_id(executions, ExecutionId, execution)
        session.execution_id = str(execution_id)
        so_far = await progress_so_far(executions, execution_id)
        async with progress_shown(executions, session.output, session.watch, so_far) as watch:
            outcome = await executions.resume(execution_id, watch=watch, by=as_, budget=budget)
        session.output.data(outcome_data(outcome, session.output))
        session.output.show(*outcome_lines(outcome, session.output))
        return exit_of(outcome.state)

    conduct_executions(work, as_json=as_json, language=language, engine=engine)
