"""`silicon evidence`: whether what was done and seen is still as it was sealed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.render.evidence import evidence_data, fault_lines
from console.cli.session import Session, conduct, find_id
from console.errors import UnknownId
from console.ports import Application
from contracts import ExecutionId, OrderId
from runtime.errors import InvalidArguments

app = command("Prove what was done and seen.")


@app.callback()
def evidence() -> None:
    """Prove what was done and seen."""


@app.command()
def verify(
    id_: Annotated[
        str | None,
        typer.Argument(
            metavar="[ORDER|EXECUTION]",
            help="An order, or an execution with all its orders; the first or last letters suffice.",
            show_default=False,
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every order in the ledger.")] = False,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Hash all evidence again. It names whatever does not fit: stored bytes, items against the ledger, the seal."""

    async def work(session: Session, application: Application) -> int:
        output, say = session.output, session.say
        faults = items = 0
        shown = []
        orders = await orders_named(application, id_, all_=all_)
        for order_id in orders:
            found = await application.evidence(order_id)
            faults, items = faults + len(found.faults), items + len(found.items)
            if found.faults or found.erased:
                output.show(Text.assemble((str(order_id), "bold"), f"  {found.order.employee}"))
                output.show(*fault_lines(found, say))
            if output.as_json:
                shown.append(evidence_data(found))
        output.data({"orders": shown, "items": items, "clean": not faults})
        if faults:
            output.show(Text.assemble(("✗ ", "red"), say("evidence-faults", count=faults)))
            return Exit.FAILED
        if items:
            output.show(Text.assemble(("✓ ", "green"), say("evidence-clean", orders=len(orders), items=items)))
        else:
            output.show(say("evidence-no-items", orders=len(orders)))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


async def orders_named(application: Application, typed: str | None, *, all_: bool = False) -> Sequence[OrderId]:
    """Return the orders that were typed: one, those of an execution, or all.

    Raises:
        InvalidArguments: neither an id nor `--all` was typed, or both.
        UnknownId: nothing is called that.
    """
    if (typed is None) is not all_:
        raise InvalidArguments("Name an order or an execution, or say --all for every order in the ledger.")
    if typed is None:
        return await application.orders_of(None)
    if typed.startswith(f"{OrderId.KIND}/"):
        return [await find_id(application, OrderId, typed)]
    if not typed.startswith(f"{ExecutionId.KIND}/"):
        # An execution and its first order share their letters; without a kind they mean the execution, as everywhere.
        wanted = typed.strip().upper()
        if not any(each.ulid == wanted for each in await application.ids(ExecutionId)):
            found = [each for each in await application.ids(OrderId) if each.ulid == wanted]
            if found:
                return found
    try:
        return await application.orders_of(await find_id(application, ExecutionId, typed))
    except UnknownId as unknown:
        if unknown.facts["count"] or "pruned" in unknown.facts or typed.startswith(f"{ExecutionId.KIND}/"):
            raise
        raise UnknownId(
            unknown.message.replace("No execution is", "Neither an execution nor an order is", 1), **unknown.facts
        ) from None
