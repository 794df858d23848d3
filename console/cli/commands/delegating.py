"""`silicon approvals delegate | delegations | undelegate`: who decides whose cards meanwhile."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from console.cli.commands.approving import Reason
from console.cli.exits import Exit
from console.cli.options import As, AsJson, Language
from console.cli.session import Session, conduct
from console.cli.words import moment
from console.ports import Application
from contracts import Delegation, DelegationId

Organisation = Annotated[
    str | None, typer.Option("--organisation", metavar="NAME", help="Whose people; else the only one here.")
]


def delegate(
    taker: Annotated[str, typer.Option("--to", metavar="PERSON", help="Who may decide them meanwhile.")],
    ends: Annotated[
        str, typer.Option("--until", metavar="DAY", help="Last day, or a local time: 2026-12-24, 2026-12-24T18:00.")
    ],
    *,
    giver: Annotated[
        str | None, typer.Option("--from", metavar="PERSON", help="Whose cards; else those of whoever acts.")
    ] = None,
    starts: Annotated[str | None, typer.Option("--starts", metavar="DAY", help="First day; else now.")] = None,
    rules: Annotated[list[str] | None, typer.Option("--rule", metavar="NAME", help="Only cards of this rule.")] = None,
    organisation: Organisation = None,
    reason: Reason = "",
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Let somebody decide another one's cards.

    For a while: whoever asked still cannot approve, nor who stands in for them.
    """

    async def work(session: Session, application: Application) -> int:
        name = organisation or await application.only_organisation()
        made = await application.delegate(
            name, giver=giver, taker=taker, starts=starts, ends=ends, policies=rules or (), by=as_, reason=reason
        )
        session.output.data({"delegation": made.to_json()})
        session.output.show(*_lines(made))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def delegations(organisation: Organisation = None, language: Language = None, as_json: AsJson = False) -> None:
    """List who may decide whose cards."""

    async def work(session: Session, application: Application) -> int:
        found = await application.delegations(organisation or await application.only_organisation())
        session.output.data({"delegations": [each.to_json() for each in found]})
        session.output.show(*(line for each in found for line in _lines(each)))
        if not found:
            session.output.show(session.say("delegations-none"))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def undelegate(
    delegation: Annotated[str, typer.Argument(metavar="ID", help="The delegation, as `delegations` shows it.")],
    organisation: Organisation = None,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """End a delegation before its time."""

    async def work(session: Session, application: Application) -> int:
        name = organisation or await application.only_organisation()
        ended = await application.end_delegation(name, DelegationId(delegation), by=as_)
        session.output.data({"delegation": ended.to_json()})
        session.output.show(*_lines(ended))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _lines(each: Delegation) -> tuple[Text, Text]:
    ends = each.ends_at if each.ended_at is None else min(each.ended_at, each.ends_at)
    span = f"{moment(each.starts_at)} – {moment(ends)}"
    rules = f" · {', '.join(each.policies)}" if each.policies else ""
    return Text(f"{each.giver} → {each.taker}  {span}{rules}"), Text(f"  {each.delegation_id}", style="dim")
