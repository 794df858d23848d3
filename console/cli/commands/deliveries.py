"""`silicon deliveries`: messages on their way to people by webhook and e-mail."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.render.facts import facts
from console.cli.session import Session, conduct, find_id
from console.cli.words import moment
from console.ports import Application
from console.system_user import system_user
from contracts import DeliveryId
from governance.channels import Delivery, DeliveryState
from runtime.texts import Say

app = command("See to messages by webhook and e-mail.", alone="list")
Which = Annotated[str, typer.Argument(metavar="DELIVERY", help="The first or last letters of its id suffice.")]


@app.command("list")
def list_(
    all_: Annotated[
        bool, typer.Option("--all", help="Those that arrived or were dropped too.", show_default=False)
    ] = False,
    organisation: Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this organisation.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List those that wait or were given up, newest first."""

    async def work(session: Session, application: Application) -> int:
        found = await application.deliveries(organisation=organisation, all_=all_, limit=limit)
        session.output.data({"deliveries": [delivery_data(each) for each in found]})
        if not found:
            session.output.show(session.say("deliveries-none"))
        for number, each in enumerate(found):
            session.output.show(*([Text()] if number else []), *_shown(each, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def show(delivery: Which, language: Language = None, as_json: AsJson = False) -> None:
    """Show one, with its text and what went wrong last."""

    async def work(session: Session, application: Application) -> int:
        found = await application.delivery(await find_id(application, DeliveryId, delivery))
        session.output.data(delivery_data(found))
        session.output.show(*_shown(found, session.say), Text(found.text))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def retry(delivery: Which, language: Language = None, as_json: AsJson = False) -> None:
    """Let one that was given up be tried anew."""

    async def work(session: Session, application: Application) -> int:
        found = await find_id(application, DeliveryId, delivery)
        changed = await application.retry_delivery(found, by=system_user())
        session.output.data(delivery_data(changed))
        session.output.show(session.say("deliveries-retried"), *_shown(changed, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def drop(
    delivery: Which,
    *,
    reason: Annotated[str, typer.Option(help="Why, for the record.")],
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Let nobody get one any more."""

    async def work(session: Session, application: Application) -> int:
        found = await find_id(application, DeliveryId, delivery)
        changed = await application.drop_delivery(found, reason=reason, by=system_user())
        session.output.data(delivery_data(changed))
        session.output.show(*_shown(changed, session.say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def delivery_data(delivery: Delivery) -> dict[str, object]:
    """Return what is told of a delivery as JSON."""
    return {
        "delivery_id": str(delivery.delivery_id),
        "organisation": delivery.organisation,
        "person": delivery.person,
        "channel": delivery.channel,
        "state": delivery.state.value,
        "what": delivery.what,
        "about": delivery.about,
        "severity": delivery.severity.value,
        "title": delivery.title,
        "queued_at": delivery.queued_at.isoformat(),
        "due_at": delivery.due_at.isoformat(),
        "attempts": delivery.attempts,
        "why": delivery.why,
        "ended_at": None if delivery.ended_at is None else delivery.ended_at.isoformat(),
    }


def _shown(delivery: Delivery, say: Say) -> list[RenderableType]:
    states = {
        DeliveryState.WAITING: say("deliveries-waiting"),
        DeliveryState.SENT: say("deliveries-sent"),
        DeliveryState.DEAD: say("deliveries-dead"),
        DeliveryState.DROPPED: say("deliveries-dropped"),
    }
    parts = [f"{delivery.person} · {delivery.channel}", moment(delivery.queued_at), str(delivery.delivery_id)]
    why = [(f"{delivery.attempts}", delivery.why)] if delivery.why else []
    return [
        Text(f"{states[delivery.state]}  {delivery.title}"),
        Text(f"  {' · '.join(parts)}", style="dim"),
        *([facts(why)] if why else []),
    ]
