"""`silicon approvals edit | decide-all | undo | review | delegate | …`: cards beside deciding one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.text import Text

from console.cli.exits import Exit, exit_of
from console.cli.json_file import json_in
from console.cli.options import As, AsJson, Language
from console.cli.render.card import DENY, card_data, card_line, whole_card
from console.cli.render.live import progress_shown
from console.cli.render.marks import icon
from console.cli.render.outcome import outcome_data, outcome_lines
from console.cli.session import Session, conduct, find_id
from console.cli.words import moment, one_line
from console.ports import Application
from contracts import CardId, Delegation, DelegationId, Json
from runtime.errors import InvalidArguments

Card = Annotated[str, typer.Argument(metavar="CARD", help="The card; the first or last letters of its id suffice.")]
Reason = Annotated[str, typer.Option(help="Why, in your words.")]
Organisation = Annotated[
    str | None, typer.Option("--organisation", metavar="NAME", help="Whose people; else the only one here.")
]


def edit(
    card: Card,
    option: Annotated[str, typer.Argument(metavar="OPTION", help="The option whose arguments change.")],
    arguments: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="JSON: the arguments that change, as an object, or a list of one for each action, null for none.",
        ),
    ],
    *,
    reason: Reason = "",
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Give an option other arguments.

    Both forms stay on record, and somebody else decides it then.
    """

    async def work(session: Session, application: Application) -> int:
        given = json_in(arguments)
        changes = given if isinstance(given, list) else [given]
        if not all(each is None or isinstance(each, dict) for each in changes):
            raise InvalidArguments(f"{arguments} holds no object of arguments, nor a list of them.")
        standing = await application.edit_card(
            await find_id(application, CardId, card), option=option, by=as_, reason=reason,
            changes=cast("list[Mapping[str, Json] | None]", changes),
        )  # fmt: skip
        session.output.data({"card": card_data(standing, session.output)})
        session.output.show(*whole_card(standing, session.output))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def decide_all(
    option: Annotated[str, typer.Argument(metavar="OPTION|deny", help="An option of the cards, or deny for a no.")],
    cards: Annotated[list[str], typer.Argument(metavar="CARD…", help="Cards of one kind.")],
    *,
    reason: Reason = "",
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Decide several cards of one kind alike.

    What cannot be taken back is decided card by card.
    """

    async def work(session: Session, application: Application) -> int:
        named = [await find_id(application, CardId, each) for each in cards]
        chosen = None if option == DENY else option
        decided = await application.decide_many(named, option=chosen, reason=reason, by=as_)
        output = session.output
        output.data(
            {
                "decided": [card_data(each.standing, output) for each in decided if each.standing is not None],
                "refused": [
                    {"id": str(each.card_id), "code": each.code, "message": each.message}
                    for each in decided
                    if each.standing is None
                ],
            }
        )
        for each in decided:
            if each.standing is not None:
                output.show(card_line(each.standing, output))
            else:
                output.show(Text.assemble(icon("failed"), f" {each.card_id}  ", one_line(each.message, 400)))
        output.note(session.say("decide-all-goes-on"))
        return Exit.DONE if all(each.standing is not None for each in decided) else Exit.FAILED

    conduct(work, as_json=as_json, language=language)


def undo(
    card: Card, reason: Reason = "", as_: As = None, language: Language = None, as_json: AsJson = False
) -> None:  # fmt: skip
    """Take back what a card brought about.

    It is done as the card says, while its time lasts.
    """

    async def work(session: Session, application: Application) -> int:
        output = session.output
        taken = await application.undo_card(await find_id(application, CardId, card), by=as_, reason=reason)
        session.execution_id = str(taken.execution_id)
        async with progress_shown(application, output, session.watch) as watch:
            outcome = await application.go_on(taken.execution_id, watch=watch)
        after = await application.card(taken.standing.card.card_id)
        output.data({"card": card_data(after, output), "execution": outcome_data(outcome, output)})
        output.show(card_line(after, output), *outcome_lines(outcome, output))
        return exit_of(outcome.state)

    conduct(work, as_json=as_json, language=language)


def review(
    card: Annotated[str | None, typer.Argument(metavar="CARD", help="The card; none lists those to review.")] = None,
    verdict: Annotated[
        str | None, typer.Argument(metavar="right|serious", help="It was right, or a serious error.")
    ] = None,
    *,
    reason: Reason = "",
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Say afterwards whether it was right.

    Alone it lists what passed by itself and waits for a review.
    """

    async def work(session: Session, application: Application) -> int:
        output = session.output
        if card is None:
            found = await application.to_review()
            output.data({"cards": [card_data(each, output) for each in found]})
            if not found:
                output.show(session.say("review-none"))
            for each in found:
                output.show(card_line(each, output), Text(f"  silicon approvals review {each.card.card_id} right"))
            return Exit.DONE
        if verdict not in ("right", "serious"):
            raise InvalidArguments(f"A review says right or serious, not {verdict!r}.", given=verdict)
        card_id = await find_id(application, CardId, card)
        standing = await application.review_card(card_id, right=verdict == "right", by=as_, reason=reason)
        output.data({"card": card_data(standing, output)})
        output.show(card_line(standing, output))
        if verdict == "serious":
            output.note(session.say("review-set-back"))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


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


def rebuild(language: Language = None, as_json: AsJson = False) -> None:
    """Make the table of cards again from events."""

    async def work(session: Session, application: Application) -> int:
        count = await application.rebuild_cards()
        session.output.data({"cards": count})
        session.output.show(session.say("cards-rebuilt", count=count))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _lines(each: Delegation) -> tuple[Text, Text]:
    ends = each.ends_at if each.ended_at is None else min(each.ended_at, each.ends_at)
    span = f"{moment(each.starts_at)} – {moment(ends)}"
    rules = f" · {', '.join(each.policies)}" if each.policies else ""
    return Text(f"{each.giver} → {each.taker}  {span}{rules}"), Text(f"  {each.delegation_id}", style="dim")


__all__ = [
    "decide_all", "delegate", "delegations", "edit", "rebuild", "review", "undelegate", "undo",
]  # fmt: skip
