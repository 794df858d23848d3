"""`silicon show`: an execution in full, or one card."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from console.cli.commands.evidence import orders_named
from console.cli.exits import Exit
from console.cli.form import to_data
from console.cli.options import AsJson, Language, command
from console.cli.render.evidence import evidence_data, evidence_lines
from console.cli.render.given import given_lines, steps_named
from console.cli.render.outcome import outcome_data
from console.cli.render.prompts import prompt_lines
from console.cli.render.show import execution_lines
from console.cli.session import Session, conduct, find_id
from console.ports import Application
from contracts import CardId, ExecutionId, Id, OrderId, QuestionId

app = command()

KINDS: tuple[type[Id], ...] = (OrderId, CardId, QuestionId)
"""What may be named beside an execution; it leads to the execution it belongs to."""


@app.command()
def show(
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="An execution, order, card or question; the first or last letters of its id suffice."
        ),
    ],
    step: Annotated[
        str | None,
        typer.Argument(metavar="[STEP]", help="Show what this step gave: look, or look[2].", show_default=False),
    ] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Of STEP: all of it, however long.", show_default=False)] = False,
    evidence: Annotated[
        bool,
        typer.Option("--evidence", help="Of an order, or each of an execution: what was done and seen, item by item."),
    ] = False,
    prompts: Annotated[
        bool,
        typer.Option(
            "--prompts", help="What models were told, part by part; --full adds the words.", show_default=False
        ),
    ] = False,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show every order and step with its state, seconds, numbers, sources and evidence.

    With STEP, what that step gave: the value itself.
    """

    async def work(session: Session, application: Application) -> int:
        shown = await application.show(await _execution(application, id_))
        tree = to_data(shown)
        session.output.data(tree | {"outcome": outcome_data(shown.outcome, session.output)})
        session.output.show(*execution_lines(shown, session.output))
        return Exit.DONE

    async def work_on_evidence(session: Session, application: Application) -> int:
        orders = await orders_named(application, await _named(application, id_))
        shown = [await application.evidence(each) for each in orders]
        session.output.data([evidence_data(each) for each in shown])
        for each in shown:
            session.output.show(*evidence_lines(each, session.output))
        return Exit.DONE

    async def work_on_prompts(session: Session, application: Application) -> int:
        orders = await orders_named(application, await _named(application, id_))
        execution = await _execution(application, id_)
        shown = await application.prompts(execution, orders)
        found = [each for each in shown if step in (None, each.step, each.name)]
        if step is not None and not found:  # one that there is not is refused
            order = orders[0] if id_.startswith(f"{OrderId.KIND}/") else None
            steps_named(await application.show(execution), step, order=order)
        session.output.data({"prompts": to_data(found)})
        for each in found:
            session.output.show(*prompt_lines(each, session.output, whole=full))
        if not found:
            session.output.show(Text(session.say("prompts-none")))
        return Exit.DONE

    async def work_on_step(session: Session, application: Application) -> int:
        order = await find_id(application, OrderId, id_) if id_.startswith(f"{OrderId.KIND}/") else None
        shown = await application.show(await _execution(application, id_))
        found = steps_named(shown, step or "", order=order)
        session.output.data({"steps": [each.data() for each in found]})
        for each in found:
            session.output.show(*given_lines(each, session.say, whole=full))
        return Exit.DONE

    if evidence and step is not None:
        raise typer.BadParameter("--evidence shows all steps; leave STEP out.")
    if evidence and prompts:
        raise typer.BadParameter("--evidence and --prompts show different things; ask for one of them.")
    if full and step is None and not prompts:
        raise typer.BadParameter("--full needs the STEP whose value is shown.")
    if prompts:
        chosen = work_on_prompts
    else:
        chosen = work_on_step if step is not None else work_on_evidence if evidence else work
    conduct(chosen, as_json=as_json, language=language)


async def _named(application: Application, typed: str) -> str:
    """Return what a card or question leads to, its execution; anything else as it was typed."""
    other = any(typed.startswith(f"{kind.KIND}/") for kind in (CardId, QuestionId))
    return str(await _execution(application, typed)) if other else typed


async def _execution(application: Application, typed: str) -> ExecutionId:
    for kind in KINDS:
        if typed.startswith(f"{kind.KIND}/"):
            return await application.execution_of(await find_id(application, kind, typed))
    return await find_id(application, ExecutionId, typed)
