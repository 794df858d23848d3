"""A decision card on a terminal: the question, the facts, and options whose lines can be compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from console.cli.form import to_data
from console.cli.output import Output
from console.cli.render.expected import expectation_line
from console.cli.render.facts import Pair, facts, label_width
from console.cli.render.marks import HUMAN, icon, word
from console.cli.render.values import action_line, brief, fact, words
from console.cli.words import command_line, in_language, moment, one_line
from console.views import CardStanding, CardState
from contracts import CardKind, DecisionCard, Json, Option, Outcome, Question

DENY = "deny"
"""What is typed in the place of an option for a no to all of them."""
TOLD_WITH = ("happened", "done")
"""The options that say an effect in doubt happened, or a call was done by hand: what it gave can be told with them."""


def decide_command(standing: CardStanding, option: str) -> str:
    """Return the command that decides, as a person who may decide would type it."""
    who = ("--as", standing.deciders[0]) if standing.deciders else ()
    return command_line("approvals", "decide", str(standing.card.card_id), option, *who)


def answer_command(question: Question, choice: str | None = None) -> str:
    """Return the command that answers a question, as a person who was asked would type it."""
    who = ("--as", question.who) if question.who else ()
    answer = choice or (question.choices[0] if question.choices else "TEXT")
    return command_line("answer", str(question.question_id), answer, *who)


def open_question(question: Question, output: Output) -> Iterator[RenderableType]:
    """Yield an open question: what is asked, and the command for each answer."""
    yield Text.assemble(("◆ ", HUMAN), in_language(question.text, output.language))
    for choice in question.choices or (None,):
        yield Text(f"  {answer_command(question, choice)}")


def _state_of(standing: CardStanding) -> str:
    """Return the word for how a card stands: what became of an approved one, where that is known."""
    if standing.outcome is Outcome.APPROVED and standing.stands:
        return standing.stands
    return standing.state.value if standing.outcome is None else standing.outcome.value


def card_line(standing: CardStanding, output: Output) -> Text:
    """Return a card in one line: state, question, deadline."""
    state = _state_of(standing)
    line = Text.assemble(icon(state), " ", words(standing.card.question, standing.card.card_id, output))
    if standing.deadline is not None:
        line.append(f"  {output.say('card-until', deadline=moment(standing.deadline))}", style=HUMAN)
    return line


def open_card(standing: CardStanding, output: Output) -> Iterator[RenderableType]:
    """Yield an open card in short: the question, and the command for each choice."""
    yield card_line(standing, output)
    card = standing.card
    choices = [(option.id, words(option.title, card.card_id, output)) for option in card.options]
    choices.append((DENY, output.say("card-none-of-these")))
    for option, title in choices:
        yield Text.assemble("  ", decide_command(standing, option), ("  # " + title, "dim"))
    if card.gives:
        yield Text(
            f"  {output.say('card-tell-output', names=', '.join(card.gives), option=_told_with(card))}", style="dim"
        )


def _told_with(card: DecisionCard) -> str:
    return next((option.id for option in card.options if option.id in TOLD_WITH), TOLD_WITH[0])


def closed_card(standing: CardStanding, output: Output) -> Iterator[RenderableType]:
    """Yield a closed card in short: what was asked, and what became of it."""
    if standing.outcome is None:
        return
    yield Text.assemble(
        "  ", icon(standing.outcome.value), " ", words(standing.card.question, standing.card.card_id, output)
    )
    yield Text(f"    {_became(standing, standing.outcome, output)}", style="dim")


def _became(standing: CardStanding, outcome: Outcome, output: Output) -> str:
    """Return by whom a card was closed and what follows; silence says nothing of an effect in doubt."""
    say = output.say
    by = ", ".join(decision.by for decision in standing.decisions if decision.approve == (outcome is Outcome.APPROVED))
    match outcome:
        case Outcome.APPROVED if standing.passed:
            return say("card-was-passed", by=standing.card.policy, option=standing.option or "")
        case Outcome.APPROVED:
            return say("card-was-approved", by=by, option=standing.option or "")
        case Outcome.DENIED:
            return say("card-was-denied", by=by)
        case Outcome.EXPIRED if standing.card.kind is CardKind.IN_DOUBT:
            return say("card-was-expired-in-doubt")
        case Outcome.EXPIRED:
            return say("card-was-expired")
        case Outcome.SUPERSEDED:
            return say("card-was-superseded")
    return say("card-was-withdrawn")


def whole_card(standing: CardStanding, output: Output) -> Iterator[RenderableType]:
    """Yield everything a person has to know to decide."""
    say, card = output.say, standing.card
    yield card_line(standing, output)
    yield facts(_pairs(standing, output))
    for option in card.options:
        chosen = standing.option == option.id
        yield Text()
        yield Text.assemble(
            ("✓ " if chosen else "  ", "green"), (option.id, "bold"), "  ", words(option.title, card.card_id, output)
        )
        yield facts(option_pairs(option, card, output), indent=4, width=_option_width(output))
    for edit in standing.edits:
        yield Text()
        yield Text(f"  {edit.by} · {moment(edit.at)} · {say('card-edited', option=edit.option)}")
        pairs = [(say("card-edit-before"), action_line(each, card.card_id, output)) for each in edit.before]
        pairs += [(say("card-edit-after"), action_line(each, card.card_id, output)) for each in edit.after]
        yield facts(pairs, indent=4)
    for decision in standing.decisions:
        yield Text()
        what = say("card-decided-for", option=decision.option) if decision.option else say("card-decided-no")
        for_ = f" ({say('card-on-behalf', name=decision.on_behalf_of)})" if decision.on_behalf_of else ""
        yield Text(f"  {decision.by}{for_} · {moment(decision.at)} · {what}")
        if decision.output is not None:
            yield Text(
                f"  {say('card-told-output', output=brief(in_json(decision.output), card.card_id, output))}",
                style="dim",
            )
        if decision.reason:
            yield Text(f"  {one_line(decision.reason, 200)}", style="dim")
    if standing.state is CardState.OPEN:
        yield Text()
        yield from list(open_card(standing, output))[1:]


def in_json(value: Json) -> str:
    """Return a value in one line, letters of any script as they are."""
    return json.dumps(value, ensure_ascii=False)


def option_pairs(option: Option, card: DecisionCard, output: Output) -> list[Pair]:
    """Return the lines by which options are compared, and what each would do."""
    say, card_id = output.say, card.card_id
    pairs: list[Pair] = [
        (say("option-benefit"), words(option.benefit, card_id, output)),
        (say("option-risk"), words(option.risk, card_id, output)),
        (say("option-cost"), words(option.cost, card_id, output)),
        (say("option-undo"), _undo(option, output)),
    ]
    if card.kind is CardKind.CHOICE:  # what the gate asks rests on no statistics
        sure = option.confidence.value if option.confidence is not None else "none"
        pairs.append((say("option-confidence"), say(f"confidence-{sure}") + _corrected(option, card, output)))
        if option.expects is not None:
            pairs.append((say("option-expects"), expectation_line(option.expects, say)))
    pairs += [(say("option-does"), action_line(action, card_id, output)) for action in option.actions]
    pairs += [(say("option-undo-does"), action_line(action, card_id, output)) for action in option.undo]
    return pairs


def card_data(standing: CardStanding, output: Output) -> dict[str, Any]:
    """Return the JSON form of a card; `command` decides for its first option, null once it is closed."""
    card, language, open_ = standing.card, output.language, standing.state is CardState.OPEN
    return {
        "id": str(card.card_id),
        "kind": card.kind.value,
        "state": standing.state.value,
        "outcome": standing.outcome.value if standing.outcome else None,
        "stands": standing.stands,
        "mode": card.mode.value,
        "mode_why": card.mode_why,
        "passed": standing.passed,
        "reason": standing.reason,
        "superseded_by": standing.superseded_by,
        "reviewed": standing.reviewed,
        "card_sha256": standing.card_sha256,
        "edits": to_data(standing.edits),
        "option": standing.option,
        "policy": card.policy,
        "question": in_language(card.question, language),
        "impact": in_language(card.impact, language),
        "options": [
            {
                "id": option.id,
                "title": in_language(option.title, language),
                "benefit": in_language(option.benefit, language),
                "risk": in_language(option.risk, language),
                "cost": in_language(option.cost, language),
                "reversible": option.reversible,
                "confidence": option.confidence and option.confidence.value,
                "expects": option.expects.to_json() if option.expects else None,
                "actions": to_data(option.actions),
                "undo": to_data(option.undo),
                "command": decide_command(standing, option.id) if open_ else None,
            }
            for option in card.options
        ],
        "facts": to_data(card.facts),
        "gives": to_data(card.gives),
        "who": list(standing.who),
        "deciders": list(standing.deciders),
        "deadline": standing.deadline.isoformat() if standing.deadline else None,
        "decisions": to_data(standing.decisions),
        "execution_id": str(card.execution_id),
        "command": decide_command(standing, card.options[0].id) if open_ else None,
        "deny_command": decide_command(standing, DENY) if open_ else None,
    }


def _pairs(standing: CardStanding, output: Output) -> list[Pair]:
    say, card = output.say, standing.card
    state = _state_of(standing)
    pairs: list[Pair] = [
        (say("card-state"), word(state, say)),
        *_impact(card, output),
    ]
    pairs += [
        (name.replace("_", " "), brief(fact(value, output), card.card_id, output)) for name, value in card.facts.items()
    ]
    pairs.append((say("card-who"), ", ".join(standing.who)))
    if card.quorum > 1:
        pairs.append((say("card-quorum"), str(card.quorum)))
    pairs += [
        (say("card-rule"), f"{card.policy} · {card.mode.value}{_why(card, output)}"),
        (say("card-asked-by"), card.requested_by),
        (say("card-id"), str(card.card_id)),
        (say("card-execution"), str(card.execution_id)),
    ]
    return pairs


def _why(card: DecisionCard, output: Output) -> str:
    """Return what made the mode another one than its rule says, in words; nothing where the rule alone decided."""
    why = card.mode_why.replace("_", "-")
    return f" ({output.say(f'card-mode-{why}')})" if why not in ("", "policy") else ""


def _impact(card: DecisionCard, output: Output) -> Iterator[Pair]:
    """Yield what a card is about. The gate writes its own line by line; a text from a folder begins no lines."""
    told = words(card.impact, card.card_id, output)
    lines = [told] if card.kind is CardKind.CHOICE else told.split("\n")
    for number, line in enumerate(lines):
        yield "" if number else output.say("card-impact"), line


def _corrected(option: Option, card: DecisionCard, output: Output) -> str:
    """Return what stands behind a label that is shown in the place of a stronger one, with the reason."""
    shown = option.confidence.value if option.confidence is not None else None
    for fact_ in card.facts.values():
        if isinstance(fact_, dict) and fact_.get("shown") == shown is not None and fact_.get("label") != shown:
            was, promised = f"confidence-{fact_['label']}", f"{100 * float(str(fact_['promised'])):.0f}"
            reason = {name: fact_.get(name) for name in ("kept", "n")}
            return output.say("option-corrected", was=output.say(was), promised=promised, **reason)
    return ""


def _undo(option: Option, output: Output) -> str:
    if not option.actions:
        return output.say("option-nothing-to-undo")
    return output.say("option-undo-yes" if option.reversible else "option-undo-no")


def _option_width(output: Output) -> int:
    keys = ("benefit", "risk", "cost", "undo", "confidence", "expects", "does", "undo-does")
    return label_width([output.say(f"option-{key}") for key in keys])


__all__ = [
    "DENY",
    "answer_command",
    "card_data",
    "card_line",
    "closed_card",
    "decide_command",
    "open_card",
    "whole_card",
]
