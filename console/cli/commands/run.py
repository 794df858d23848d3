"""`silicon run`: hand a goal to an organisation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.cli.exits import exit_of
from console.cli.options import As, AsJson, At, Language, Organisation, command, moment, pairs
from console.cli.render.live import progress_shown
from console.cli.render.outcome import outcome_data, outcome_lines
from console.cli.session import Session, conduct
from console.ports import Application
from console.views import RunOptions

app = command()


@app.command()
def run(
    organisation: Organisation,
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What is wanted, in your words.")],
    *,
    skill: Annotated[str | None, typer.Option(help="The skill to use; else the goal's words decide.")] = None,
    with_: Annotated[
        list[str] | None, typer.Option("--with", metavar="NAME=VALUE", help="A parameter of the plan; repeatable.")
    ] = None,
    at: At = None,
    as_: As = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key twice is the same execution, never two.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Every effect waits for a person.", show_default=False)
    ] = False,
    budget_seconds: Annotated[str | None, typer.Option(metavar="SECONDS", help="Seconds of work at most.")] = None,
    budget_steps: Annotated[str | None, typer.Option(metavar="STEPS", help="Steps at most.")] = None,
    budget_tokens: Annotated[str | None, typer.Option(metavar="TOKENS", help="Tokens at most.")] = None,
    budget_money: Annotated[str | None, typer.Option(metavar="'5 USD'", help="Costs at most.")] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Run a goal until it is done, fails, or waits for a decision."""
    budget = {"seconds": budget_seconds, "steps": budget_steps, "tokens": budget_tokens, "money": budget_money}

    async def work(session: Session, application: Application) -> int:
        options = RunOptions(
            goal=goal,
            skill=skill,
            given=pairs("--with", with_),
            at=moment(at),
            by=as_,
            key=key,
            language=language,
            budget={name: value for name, value in budget.items() if value is not None},
            strict=strict,
        )
        with progress_shown(session.output, session.watch) as watch:
            outcome = await application.run(Path(organisation), options, watch=watch)
        session.output.data(outcome_data(outcome, session.output))
        session.output.show(*outcome_lines(outcome, session.output))
        return exit_of(outcome.state)

    conduct(work, as_json=as_json, language=language)
