"""`silicon runs`: executions, newest first."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.render.marks import icon, shown_state, word
from console.cli.render.queued import queued_words
from console.cli.session import Session, conduct_executions
from console.cli.words import moment, one_line, seconds
from console.ports_executions import Executions
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

    async def work(session: Session, executions: Executions) -> int:
        rows = await executions.executions(organisation=organisation, limit=limit)
        session.output.data({"executions": rows})
        say = session.say
        if not rows:
            pruned = await executions.horizon() > 0
            told = "runs-none-of" if organisation is not None else "runs-none-left" if pruned else "runs-none"
            session.output.show(say(told, organisation=organisation or ""))
            return Exit.DONE
        for row in rows:
            session.output.show(*_lines(row, say))
        return Exit.DONE

    conduct_executions(work, as_json=as_json, language=language)


def _lines(row: ExecutionRow, say: Say) -> list[Text]:
    shown = shown_state(row.state, imported=row.imported)
    first = Text.assemble(icon(shown), " ", word(shown, say), "  ", one_line(row.goal, 100))
    if row.imported:
        first.append(f"  {say('outcome-imported')}", style="dim")
    elif row.state is OrderState.RUNNING and not row.held:
        first.append(f"  {say('runs-not-held')}", style="dim")
    elif row.queued:
        first.append(f"  {row.queued[0].place} {queued_words(row.queued[0], say)}", style="dim")
    spent = [] if row.seconds is None else [seconds(row.seconds)]
    facts = [moment(row.requested_at), row.requested_by, row.organisation, *spent, str(row.execution_id)]
    return [first, Text(f"  {' · '.join(facts)}", style="dim")]
