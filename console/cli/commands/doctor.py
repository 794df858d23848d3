"""`silicon doctor`: what is broken here, and how to mend it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.commands.check import fault_lines
from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.output import Output
from console.cli.render.facts import facts
from console.cli.render.marks import HEALTH
from console.cli.session import Session, conduct
from console.ports import Application
from console.views_system import Examined, Health

app = command()
FAULTS = 20
"""Faults of a folder that are shown; `silicon check` shows all."""


@app.command()
def doctor(
    organisation: Annotated[
        str | None,
        typer.Argument(metavar="[ORG]", help="Look at its data files and services too.", show_default=False),
    ] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Look at Python, database, sandbox, model and data; exit code 1 when something is broken."""

    async def work(session: Session, application: Application) -> int:
        found = await application.doctor(Path(organisation) if organisation else None)
        session.output.data({"healthy": not _broken(found), "examined": found})
        _show(found, session.output)
        return Exit.FAILED if _broken(found) else Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _broken(found: Sequence[Examined]) -> int:
    return sum(each.health is Health.BROKEN for each in found)


def _show(found: Sequence[Examined], output: Output) -> None:
    for each in found:
        sign, style = HEALTH[each.health]
        what = Text(each.what, style=style if each.health is Health.BROKEN else "")
        output.show(facts([(f"{sign} {each.name}", what)], indent=0, width=14))
        output.show(*(Text(f"  {part}") for part in each.parts))
        for fault in each.faults[:FAULTS]:
            output.show(*(Text("  ").append_text(line) for line in fault_lines(fault)))
        if len(each.faults) > FAULTS:
            output.show(Text(f"  {output.say('doctor-more', count=len(each.faults) - FAULTS)}", style="dim"))
        if each.mend:
            output.show(Text(f"  {each.mend}", style="dim"))
    broken = _broken(found)
    output.show(output.say("doctor-broken", count=broken) if broken else output.say("doctor-healthy"))
