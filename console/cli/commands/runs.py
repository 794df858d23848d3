"""`silicon runs`: executions, newest first."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.render.marks import icon, word
from console.cli.session import Session, conduct
from console.cli.words import moment, one_line, seconds
from console.ports import Application
from console.views import ExecutionRow
from contracts import OrderState
from runtime.texts import Say

app = command()


@app.command()
def runs(
    organisation: Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this organisation.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List executions, newest first."""

    async def work(session: Session, application: Application) -> int:
        rows = await application.executions(organisation=organisation, limit=limit)
        session.output.data({"executions": rows})
        say = session.say
        if not rows:
            session.output.show(say("runs-none"))
            return Exit.DONE
        for row in rows:
            session.output.show(*_lines(row, say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _lines(row: ExecutionRow, say: Say) -> list[Text]:
    first = Text.assemble(icon(row.state.value), " ", word(row.state.value, say), "  ", one_line(row.goal, 100))
    if row.state is OrderState.RUNNING and not row.held:
        first.append(f"  {say('runs-not-held')}", style="dim")
    spent = [] if row.seconds is None else [seconds(row.seconds)]
    facts = [moment(row.requested_at), row.requested_by, row.organisation, *spent, str(row.execution_id)]
    return [first, Text(f"  {' · '.join(facts)}", style="dim")]
