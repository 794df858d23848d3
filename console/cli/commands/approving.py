"""`silicon approvals edit | decide-all | undo | review | rebuild`: what is done with cards beside deciding one."""

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
from console.cli.words import one_line
from console.ports import Application
from contracts import CardId, Json
from runtime.errors import InvalidArguments

Card = Annotated[str, typer.Argument(metavar="CARD", help="The card; the first or last letters of its id suffice.")]
Reason = Annotated[str, typer.Option(help="Why, in your words.")]


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


def rebuild(language: Language = None, as_json: AsJson = False) -> None:
    """Make the table of cards again from events."""

    async def work(session: Session, application: Application) -> int:
        count = await application.rebuild_cards()
        session.output.data({"cards": count})
        session.output.show(session.say("cards-rebuilt", count=count))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)
