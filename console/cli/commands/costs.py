"""`silicon costs`: what work cost, and what it may cost."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import As, AsJson, Language, Organisation, command
from console.cli.render.costs import budget_table, cost_table
from console.cli.session import Session, conduct, find_id
from console.ports import Application
from contracts import ExecutionId
from runtime.errors import InvalidArguments

app = command("Show what work cost.", alone="show")
By = Annotated[str, typer.Option("--by", metavar="WHAT", help="step, agent, process, department, model or day.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="DAY", help="First day, 2026-12-01.", show_default=False)
]  # fmt: skip
Until = Annotated[str | None, typer.Option("--until", metavar="DAY", help="Last day; else today.", show_default=False)]
Of = Annotated[str | None, typer.Option("--organisation", metavar="NAME", help="Whose costs.", show_default=False)]
Execution = Annotated[
    str | None, typer.Option("--execution", metavar="ID", help="Of one execution only.", show_default=False)
]


@app.command()
def show(
    by: By = "process",
    since: Since = None,
    until: Until = None,
    organisation: Of = None,
    execution: Execution = None,
    *,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show tokens, money and seconds, of the last 30 days."""

    async def work(session: Session, application: Application) -> int:
        one = await find_id(application, ExecutionId, execution) if execution is not None else None
        costs = await application.costs(
            by=by,
            organisation=organisation,
            since=_day("--since", since),
            until=_day("--until", until),
            execution_id=one,
        )
        session.output.data(costs)
        say = session.say
        if not costs.rows:
            session.output.show(say("costs-none"))
            return Exit.DONE
        of = str(one) if one is not None else f"{costs.organisation}  {costs.since} … {costs.until}"
        session.output.show(Text(of, style="dim"), cost_table(costs, say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def budgets(organisation: Organisation, language: Language = None, as_json: AsJson = False) -> None:
    """Show what departments and processes may still spend."""

    async def work(session: Session, application: Application) -> int:
        rows = await application.budgets(Path(organisation))
        session.output.data({"budgets": rows})
        session.output.show(budget_table(rows, session.say) if rows else session.say("costs-no-budgets"))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def extend(
    organisation: Organisation,
    budget: Annotated[str, typer.Argument(metavar="BUDGET", help="Its name: department/desk/day.")],
    *,
    money: Annotated[str | None, typer.Option(metavar="'5 USD'", help="Costs more.", show_default=False)] = None,
    tokens: Annotated[str | None, typer.Option(metavar="TOKENS", help="Tokens more.", show_default=False)] = None,
    seconds: Annotated[str | None, typer.Option(metavar="SECONDS", help="Seconds more.", show_default=False)] = None,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the record.", show_default=False)] = "",
    by: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Give a budget more until its period ends."""

    async def work(session: Session, application: Application) -> int:
        given = {"money": money, "tokens": tokens, "seconds": seconds}
        more = {name: text for name, text in given.items() if text is not None}
        rows = await application.extend_budget(Path(organisation), budget, more, by=by, why=why)
        session.output.data({"budgets": rows})
        session.output.show(budget_table(rows, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def rebuild(
    budgets_of: Annotated[
        str | None, typer.Option("--budgets", metavar="ORG", help="The budgets of a folder too.", show_default=False)
    ] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Count all costs again from the ledger's events."""

    async def work(session: Session, application: Application) -> int:
        position = await application.rebuild_costs()
        rows = await application.rebuild_budgets(Path(budgets_of)) if budgets_of is not None else 0
        session.output.data({"position": position, "budgets": rows})
        session.output.show(session.say("costs-rebuilt", position=position))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _day(option: str, text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise InvalidArguments(f"{option}: {text!r} is no day. Write it as 2026-12-01.", at=text) from None
