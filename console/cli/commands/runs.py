"""`silicon runs`: executions, newest first."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.render.facts import table
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
        headings = [say(f"runs-{name}") for name in ("state", "goal", "asked", "seconds", "id")]
        session.output.show(table(headings, [_row(row, say) for row in rows], right=(3,)))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _row(row: ExecutionRow, say: Say) -> list[str | Text]:
    state = Text.assemble(icon(row.state.value), " ", word(row.state.value, say))
    if row.state is OrderState.RUNNING and not row.held:
        state.append(f" ({say('runs-not-held')})", style="dim")
    asked = f"{moment(row.requested_at)}  {row.requested_by}"
    return [state, one_line(row.goal, 60), asked, seconds(row.seconds), str(row.execution_id)]
