"""`silicon run`: hand a goal to an organisation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.cli.exits import exit_of
from console.cli.options import (
    As,
    AsJson,
    At,
    Costs,
    Engine,
    Language,
    Organisation,
    Seconds,
    Steps,
    Tokens,
    command,
    limits,
    moment,
    pairs,
)
from console.cli.render.live import progress_shown
from console.cli.render.outcome import outcome_data, outcome_lines
from console.cli.session import Session, conduct_executions
from console.ports_executions import Executions
from console.views import Mode, RunOptions

app = command()


@app.command()
def run(
    organisation: Organisation,
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What is wanted, in your words.")],
    *,
    skill: Annotated[str | None, typer.Option(help="The skill to use; else the goal's words decide.")] = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="Of a goal without a skill: a model plans it, answers it, or whichever it is complex enough for."
        ),
    ] = "auto",
    with_: Annotated[
        list[str] | None, typer.Option("--with", metavar="NAME=VALUE", help="A parameter of the plan; repeatable.")
    ] = None,
    at: At = None,
    as_: As = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key twice is the same execution, never two.")
    ] = None,
    priority: Annotated[
        int, typer.Option(metavar="N", min=-100, max=100, help="Orders of a greater number get a slot first.")
    ] = 0,
    strict: Annotated[
        bool, typer.Option("--strict", help="Every effect waits for a person.", show_default=False)
    ] = False,
    budget_seconds: Seconds = None,
    budget_steps: Steps = None,
    budget_tokens: Tokens = None,
    budget_money: Costs = None,
    engine: Engine = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Run a goal until it is done, fails, or waits for a decision."""
    budget = limits(budget_seconds, budget_steps, budget_tokens, budget_money)

    async def work(session: Session, executions: Executions) -> int:
        options = RunOptions(
            goal=goal,
            skill=skill,
            mode=mode,
            given=pairs("--with", with_),
            at=moment(at),
            by=as_,
            key=key,
            language=language,
            budget=budget,
            priority=priority,
            strict=strict,
        )
        async with progress_shown(executions, session.output, session.watch) as watch:
            outcome = await executions.run(Path(organisation), options, watch=watch)
        session.output.data(outcome_data(outcome, session.output))
        session.output.show(*outcome_lines(outcome, session.output))
        return exit_of(outcome.state)

    conduct_executions(work, as_json=as_json, language=language, engine=engine)
