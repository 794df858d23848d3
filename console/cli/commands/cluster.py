"""`silicon cluster`: nodes, their slots, and the orders that wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.output import Output
from console.cli.render.cluster import node_lines, order_lines, slot_line
from console.cli.session import Session, conduct, conduct_alone
from console.ids import choose
from console.ports import Application
from console.views_cluster import NodeRow, NodeState
from contracts import NodeId

app = command("Show nodes, slots and waiting orders; close nodes; offer one.", alone="nodes")

NodeArgument = Annotated[
    str, typer.Argument(metavar="NODE", help="The node; the first or last letters of its id suffice.")
]
_LOOK_S = 0.5
"""How often is looked whether a node is empty."""


@app.command()
def serve(
    *,
    slots: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Slots to offer; else slot.count.", show_default=False)
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="A label to offer beside those found; may be repeated.", show_default=False),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keeps the node's id and slots; else the home folder.", show_default=False),
    ] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Offer a node for the orders of this ledger. It carries out those of every process, until Ctrl-C or SIGTERM."""

    def work(session: Session) -> int:
        settings = session.settings
        of_slot = {} if slots is None else {"count": slots}
        of_node = {"labels": (*settings.cluster.labels, *(label or ()))} | (
            {} if folder is None else {"folder": str(folder.resolve())}
        )
        settings = settings.model_copy(
            update={
                "slot": settings.slot.model_copy(update=of_slot),
                "cluster": settings.cluster.model_copy(update=of_node),
            }
        )
        serve_node = import_module("console.server.node").serve_node  # imported here: nothing else needs what it costs
        asyncio.run(serve_node(settings, lambda told: _tell(told, session.output)))
        return Exit.DONE

    conduct_alone(work, as_json=as_json, language=language)


@app.command()
def nodes(language: Language = None, as_json: AsJson = False) -> None:
    """List the nodes. Of each: what it offers, how full it is, when it last gave a sign of life."""

    async def work(session: Session, application: Application) -> int:
        rows = await application.nodes()
        session.output.data({"nodes": rows})
        if not rows:
            session.output.show(session.say("cluster-no-nodes"))
        for row in rows:
            session.output.show(*node_lines(row, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def slots(language: Language = None, as_json: AsJson = False) -> None:
    """List the slots of all nodes that live. Of each: the order that holds it."""

    async def work(session: Session, application: Application) -> int:
        rows = await application.slots()
        session.output.data({"slots": rows})
        if not rows:
            session.output.show(session.say("cluster-no-nodes"))
        for row in rows:
            session.output.show(slot_line(row, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def orders(
    organisation: Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this organisation.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List orders in slots, then those that wait. They come as they stand in line."""

    async def work(session: Session, application: Application) -> int:
        rows = await application.cluster_orders(organisation=organisation, limit=limit)
        waiting = await application.waiting_orders()
        session.output.data({"waiting": waiting, "orders": rows})
        session.output.show(session.say("cluster-waiting", count=waiting))
        for row in rows:
            session.output.show(*order_lines(row, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def cordon(node: NodeArgument, language: Language = None, as_json: AsJson = False) -> None:
    """Let a node take no new orders; those that it has end there."""
    _close(node, NodeState.CORDONED, "cluster-cordoned", language=language, as_json=as_json)


@app.command()
def uncordon(node: NodeArgument, language: Language = None, as_json: AsJson = False) -> None:
    """Let a node that was cordoned or drained take orders again."""
    _close(node, NodeState.OPEN, "cluster-opened", language=language, as_json=as_json)


@app.command()
def drain(
    node: NodeArgument,
    *,
    wait: Annotated[
        float, typer.Option(metavar="S", min=0, help="Seconds to wait until its slots are empty.", show_default=True)
    ] = 0,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Empty a node. It takes no new orders, and those of others go on elsewhere from their next step on."""

    async def work(session: Session, application: Application) -> int:
        row = await application.close_node(await _find(application, node), NodeState.DRAINING)
        row = await _until_empty(application, row, within_s=wait)
        session.output.data(row)
        told = "cluster-drained" if row.taken == 0 else "cluster-draining"
        session.output.show(session.say(told, node=str(row.node_id), count=row.taken), *node_lines(row, session.say))
        return Exit.FAILED if wait and row.taken else Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _close(node: str, state: NodeState, told: str, *, language: str | None, as_json: bool) -> None:
    async def work(session: Session, application: Application) -> int:
        row = await application.close_node(await _find(application, node), state)
        session.output.data(row)
        session.output.show(session.say(told, node=str(row.node_id)), *node_lines(row, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


async def _find(application: Application, typed: str) -> NodeId:
    return choose(NodeId, typed, [each.node_id for each in await application.nodes()])


async def _until_empty(application: Application, row: NodeRow, *, within_s: float) -> NodeRow:
    loop = asyncio.get_running_loop()
    until = loop.time() + within_s
    while row.taken and loop.time() < until:
        await asyncio.sleep(min(_LOOK_S, max(0.0, until - loop.time())))
        rows: Sequence[NodeRow] = await application.nodes()
        row = next((each for each in rows if each.node_id == row.node_id), row)
    return row


def _tell(told: Any, output: Output) -> None:
    name, say = type(told).__name__.lower(), output.say
    output.data_line({"event": "up" if name == "nodeup" else name, **asdict(told)})
    match name:
        case "nodeup":
            labels = ", ".join(told.labels)
            output.show(Text(say("cluster-serving", node=told.node_id, slots=told.slots, pid=str(told.pid))))
            if labels:
                output.show(Text(say("cluster-labels", labels=labels)))
        case "stopping":
            output.note(Text(say("cluster-stopping", count=told.in_hand, seconds=told.within_s)))
        case "stopped":
            output.note(Text(say("cluster-stopped")))
