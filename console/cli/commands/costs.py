"""`silicon costs`: what work cost, and what it may cost."""

from __future__ import annotations

from datetime import date
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.render.costs import cost_table
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
def rebuild(language: Language = None, as_json: AsJson = False) -> None:
    """Count all costs again from the ledger's events."""

    async def work(session: Session, application: Application) -> int:
        position = await application.rebuild_costs()
        session.output.data({"position": position})
        session.output.show(session.say("costs-rebuilt", position=position))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _day(option: str, text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise InvalidArguments(f"{option}: {text!r} is no day. Write it as 2026-12-01.", at=text) from None
