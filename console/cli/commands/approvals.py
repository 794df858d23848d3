"""`silicon approvals`: the cards that wait for a person, and the decisions about them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.commands.approving import Card, Reason, decide_all, edit, rebuild, review, undo
from console.cli.commands.delegating import delegate, delegations, undelegate
from console.cli.exits import Exit, exit_of
from console.cli.json_file import object_in
from console.cli.options import As, AsJson, Language, command
from console.cli.render.card import (
    DENY,
    TOLD_WITH,
    answer_command,
    card_data,
    closed_card,
    open_card,
    open_question,
    whole_card,
)
from console.cli.render.live import progress_shown, progress_so_far
from console.cli.render.marks import icon
from console.cli.render.outcome import outcome_data, outcome_lines
from console.cli.render.values import action_line, words
from console.cli.session import Session, conduct_executions, find_id
from console.cli.words import in_language, moment, one_line
from console.errors import UnknownOption
from console.ports_executions import Executions
from console.views import CardStanding, CardState
from contracts import CardId, Option
from governance.notifications import LONGEST

app = command("List, show and decide cards.", alone="list")


@app.command("list")
def list_(
    all_: Annotated[
        bool, typer.Option("--all", help="Those that are closed too, newest first.", show_default=False)
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List the cards and questions that wait. The nearest deadline comes first."""

    async def work(session: Session, executions: Executions) -> int:
        output = session.output
        found = await executions.cards(all_=all_, limit=limit + 1)
        cards = found[:limit]
        questions = await executions.questions()
        asked = [
            {"id": str(q.question_id), "text": in_language(q.text, output.language), "command": answer_command(q)}
            for q in questions
        ]
        output.data({"cards": [card_data(standing, output) for standing in cards], "questions": asked})
        if not cards and not questions:
            output.show(session.say("approvals-none"))
        for number, standing in enumerate(cards):
            shown = open_card if standing.state is CardState.OPEN else closed_card
            output.show(*([Text()] if number else []), *shown(standing, output))
        for question in questions:
            output.show(*open_question(question, output))
        if len(found) > limit:
            output.note(session.say("approvals-more", limit=limit))
        return Exit.DONE

    conduct_executions(work, as_json=as_json, language=language)


@app.command()
def messages(
    to: Annotated[str | None, typer.Option("--to", metavar="PERSON", help="Only those to this person.")] = None,
    organisation: Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this organisation.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """List what people were told and need not answer, newest first."""

    async def work(session: Session, executions: Executions) -> int:
        told = await executions.notifications(organisation=organisation, person=to, limit=limit)
        session.output.data({"messages": [each.to_json() for each in told]})
        if not told:
            session.output.show(session.say("messages-none"))
        for each in told:
            facts = [moment(each.sent_at), ", ".join(each.to), f"{each.employee}/{each.step}", str(each.execution_id)]
            session.output.show(
                Text(one_line(" · ".join(each.text.splitlines()), LONGEST)), Text(f"  {' · '.join(facts)}", style="dim")
            )
        return Exit.DONE

    conduct_executions(work, as_json=as_json, language=language)


@app.command()
def show(card: Card, language: Language = None, as_json: AsJson = False) -> None:
    """Show one card: impact, facts, and its options side by side."""

    async def work(session: Session, executions: Executions) -> int:
        standing = await executions.card(await find_id(executions, CardId, card))
        session.output.data(card_data(standing, session.output))
        session.output.show(*whole_card(standing, session.output))
        return Exit.DONE

    conduct_executions(work, as_json=as_json, language=language)


@app.command()
def decide(
    card: Card,
    option: Annotated[str, typer.Argument(metavar="OPTION|deny", help="An option of the card, or deny for a no.")],
    *,
    reason: Reason = "",
    told: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="With happened or done: what it gave, a JSON object."),
    ] = None,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Decide a card, and carry out what follows from it."""

    async def work(session: Session, executions: Executions) -> int:
        output = session.output
        gave = None if told is None else object_in(told)
        before = await executions.card(await find_id(executions, CardId, card))
        chosen = _chosen(before, option)
        if before.state is CardState.OPEN:
            await executions.may_decide(before.card.card_id, by=as_)
            _announce(session, before, chosen, told=gave is not None)
        after = await executions.decide(
            before.card.card_id, option=chosen.id if chosen else None, reason=reason, by=as_, output=gave,
            shown_sha256=before.card_sha256,
        )  # fmt: skip
        if after.state is CardState.OPEN:
            output.data({"card": card_data(after, output), "execution": None})
            output.show(session.say("approvals-more-needed", given=len(after.decisions), needed=after.card.quorum))
            return Exit.WAITING
        session.execution_id = str(before.card.execution_id)
        so_far = await progress_so_far(executions, before.card.execution_id)
        async with progress_shown(executions, output, session.watch, so_far) as watch:
            outcome = await executions.go_on(before.card.execution_id, watch=watch)
        output.data({"card": card_data(after, output), "execution": outcome_data(outcome, output)})
        output.show(*outcome_lines(outcome, output))
        return exit_of(outcome.state)

    conduct_executions(work, as_json=as_json, language=language)


def _chosen(standing: CardStanding, typed: str) -> Option | None:
    """Return the option that was typed, or None for a no."""
    if typed == DENY:
        return None
    for option in standing.card.options:
        if option.id == typed:
            return option
    there = [*(option.id for option in standing.card.options), DENY]
    raise UnknownOption(
        f"{standing.card.card_id} has no option {typed!r}. Choose one of {', '.join(there)}.",
        card=str(standing.card.card_id),
        option=typed,
        options=[*there],
    )


def _announce(session: Session, standing: CardStanding, chosen: Option | None, *, told: bool) -> None:
    """Say on standard error what is being decided, before it is."""
    output, say, card_id = session.output, session.say, standing.card.card_id
    output.note(Text.assemble(icon("open"), " ", words(standing.card.question, card_id, output)))
    if chosen is None:
        output.note(Text(f"  {say('decide-no')}"))
        return
    output.note(Text(f"  {say('decide-yes', option=chosen.id, title=words(chosen.title, card_id, output))}"))
    if chosen.id in TOLD_WITH and standing.card.gives and not told:
        output.note(Text(f"  {say('decide-not-told', names=', '.join(standing.card.gives))}"))
    for action in chosen.actions:
        output.note(Text(f"  {say('decide-does', action=action_line(action, card_id, output))}"))
    if chosen.actions:
        output.note(Text(f"  {say('decide-reversible' if chosen.reversible else 'decide-irreversible')}"))


for name, more in (
    ("edit", edit), ("decide-all", decide_all), ("undo", undo), ("review", review), ("delegate", delegate),
    ("delegations", delegations), ("undelegate", undelegate), ("rebuild", rebuild),
):  # fmt: skip
    app.command(name)(more)
