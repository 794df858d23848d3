"""How an execution ended, in a few lines: what was found, what was delivered, who has to decide what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from console.cli.form import to_data
from console.cli.output import Output
from console.cli.render.card import answer_command, card_data, closed_card, open_card, open_question
from console.cli.render.extension import extension_pairs, go_on_command
from console.cli.render.facts import Pair, facts, padded
from console.cli.render.marks import icon, shown_state, word
from console.cli.render.queued import queued_lines
from console.cli.words import command_line, in_language, one_line, seconds
from console.views import ExecutionOutcome
from contracts import Json, Limit, OrderState

RESULTS, RESULT = 6, 200
"""Fields of the result that are shown, and letters of each."""
NOTE = 300
"""Letters of a reason in a note."""
LABEL = 8
"""Cells of the column of labels."""

_NEXT = {
    "POLICY_VIOLATED": "outcome-next-forbidden",
    "NO_NODE_FITS": "outcome-next-no-node",
    "MODEL_REQUIRED": "outcome-next-model",
}
"""What to do next, by the code of an error, where that is not to mend data or a service."""


def outcome_lines(outcome: ExecutionOutcome, output: Output) -> Iterator[RenderableType]:
    """Yield the outcome for people."""
    say = output.say
    yield headline(outcome, output)
    pairs: list[Pair] = []
    for found in outcome.findings:
        sure = say(f"confidence-{found.confidence.value}")
        pairs.append((say("outcome-found"), f"{found.statement} ({sure})"))
    if outcome.state.final and not outcome.findings:
        pairs += [(say("outcome-result") if number == 0 else "", line) for number, line in enumerate(_results(outcome))]
    if outcome.error is not None:
        pairs.append((say("outcome-failed"), f"{outcome.error.message} [{outcome.error.code}]"))
    if outcome.asks is not None:
        pairs += extension_pairs(outcome.asks, say)
    pairs += [(say("outcome-note") if not n else "", note) for n, note in enumerate(_notes(outcome, output))]
    if pairs:
        yield facts(pairs, width=LABEL)
    for product in outcome.products:
        where = str(product.path) if product.path else product.sha256
        where += f"  {say('show-damaged')}" if product.damaged else ""
        label = padded(say("outcome-product"), LABEL)
        yield Text.assemble((f"  {label}  ", "dim"), where, (f"  {product.title}", "dim"))
    if outcome.state.final:
        for standing in outcome.decided:
            yield from closed_card(standing, output)
    yield from queued_lines(outcome.queued, say)
    label = padded(say("outcome-details"), LABEL)
    yield Text.assemble((f"  {label}  ", "dim"), command_line("show", outcome.execution_id))
    for standing in outcome.cards:
        yield Text()
        yield from open_card(standing, output)
    for question in outcome.questions:
        yield Text()
        yield from open_question(question, output)
    goes_on = outcome.state in (OrderState.FAILED, OrderState.RUNNING) and not outcome.imported
    if goes_on and not outcome.repeated:
        yield Text()
        code = "" if outcome.error is None else outcome.error.code
        next_ = _NEXT.get(code, f"outcome-next-{outcome.state.value}")
        told = say(next_, command=command_line("resume", outcome.execution_id))
        yield from (Text(line) for line in told.splitlines())
    asks = outcome.asks
    if asks is not None and asks.limit is not Limit.DEADLINE and not (outcome.imported or outcome.repeated):
        yield Text()
        yield Text(say("outcome-next-partial", command=go_on_command(asks, outcome.execution_id)))


def _results(outcome: ExecutionOutcome) -> list[str]:
    """Return what the plan gives, in lines; objects, and lists of them, are left to `silicon show`."""
    given = outcome.output if isinstance(outcome.output, dict) else {}
    told = {name: text for name, value in given.items() if (text := _plain(value))}
    return [f"{name}: {one_line(text, RESULT)}" for name, text in list(told.items())[:RESULTS]]


def _plain(value: Json) -> str:
    """Return a single value, or a list of such, as text; nothing for what is neither."""
    if isinstance(value, list):
        single = all(isinstance(each, str | int | float) for each in value)
        return ", ".join(map(str, value[:RESULT])) if single else ""
    return str(value) if isinstance(value, str | int | float) else ""


def _notes(outcome: ExecutionOutcome, output: Output) -> list[str]:
    """Return what else people have to know, whatever the state: what the plan went on without."""
    say = output.say
    failures = [
        say("outcome-branch-failed", branch=each.branch, code=each.code, why=one_line(each.message, NOTE))
        for each in outcome.failed_branches
    ]
    left_out = [
        say(f"outcome-not-offered-{each.reason}", option=each.option, rule=each.rule or "", use=each.use or "",
            why=one_line(each.why, NOTE))
        for each in outcome.not_offered
    ]  # fmt: skip
    more = len(failures) - RESULTS
    return [*left_out, *failures[:RESULTS], *([say("outcome-branches-more", count=more)] if more > 0 else [])]


def headline(outcome: ExecutionOutcome, output: Output) -> Text:
    """Return the first line: the state, the goal, what it took."""
    say = output.say
    state = shown_state(outcome.state, imported=outcome.imported)
    took = say("outcome-took", seconds=seconds(outcome.usage.seconds), steps=outcome.usage.steps)
    costs = [str(money) for money in outcome.usage.money]
    line = Text.assemble(icon(state), " ", word(state, say), "  ", (outcome.goal, "bold"))
    line.append(f"  {' · '.join([took, *costs])}", style="dim")
    if outcome.repeated:
        line.append(f"  {say('outcome-repeated')}", style="dim")
    if outcome.imported:
        line.append(f"  {say('outcome-imported')}", style="dim")
    return line


def outcome_data(outcome: ExecutionOutcome, output: Output) -> dict[str, Any]:
    """Return the JSON form of an outcome."""
    return {
        "execution_id": str(outcome.execution_id),
        "state": outcome.state.value,
        "organisation": outcome.organisation,
        "goal": outcome.goal,
        "skill": outcome.skill,
        "findings": to_data(outcome.findings),
        "products": [
            {
                "title": product.title,
                "kind": product.kind,
                "path": str(product.path) if product.path else None,
                "sha256": product.sha256,
            }
            for product in outcome.products
        ],
        "cards": [card_data(standing, output) for standing in outcome.cards],
        "decided": [card_data(standing, output) for standing in outcome.decided],
        "questions": [
            {
                "id": str(question.question_id),
                "text": in_language(question.text, output.language),
                "choices": list(question.choices),
                "deadline": question.deadline.isoformat() if question.deadline else None,
                "command": answer_command(question),
            }
            for question in outcome.questions
        ],
        "usage": to_data(outcome.usage),
        "output": to_data(outcome.output),
        "error": to_data(outcome.error),
        "asks": to_data(outcome.asks),
        "not_offered": to_data(outcome.not_offered),
        "failed_branches": to_data(outcome.failed_branches),
        "queued": to_data(outcome.queued),
        "repeated": outcome.repeated,
        "imported": outcome.imported,
    }
