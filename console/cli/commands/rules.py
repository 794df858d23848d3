"""`silicon rules`: what must hold at every action, whether code holds it, and whether its examples come out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, Organisation, command
from console.cli.render.facts import facts, table
from console.cli.session import Session, conduct
from console.cli.words import brief_hash, in_language
from console.errors import UnknownName
from console.ports import Application
from console.views_rules import RuleExample, RuleRow
from runtime.texts import Say

app = command("List rules, show them, run their examples.")
Rule = Annotated[str, typer.Argument(metavar="RULE", help="The rule's name.")]
AnyRule = Annotated[str | None, typer.Argument(metavar="[RULE]", help="One rule; else all.", show_default=False)]


@app.command("list")
def list_(organisation: Organisation, language: Language = None, as_json: AsJson = False) -> None:
    """List the rules of an organisation."""

    async def work(session: Session, application: Application) -> int:
        rules = await application.rules(Path(organisation))
        session.output.data({"rules": rules})
        say = session.say
        if not rules:
            session.output.show(say("rules-none"))
            return Exit.DONE
        headings = [say(f"rules-{name}") for name in ("name", "applies-to", "check", "breach", "examples")]
        rows = [[each.name, _scope(each, say), _check(each, say), _breach(each, say), _passed(each)] for each in rules]
        session.output.show(table(headings, rows, right=(4,)))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def show(organisation: Organisation, rule: Rule, language: Language = None, as_json: AsJson = False) -> None:
    """Show one rule: words, condition, version, examples."""

    async def work(session: Session, application: Application) -> int:
        [found] = _named(rule, await application.rules(Path(organisation)))
        session.output.data(found)
        say = session.say
        pairs = [
            (say("rules-text"), in_language(found.text, session.output.language)),
            (say("rules-applies-to"), _scope(found, say)),
            (say("rules-check"), found.allow_when or say("rules-told-only")),
            (say("rules-breach"), _breach(found, say)),
            (say("rules-version"), found.version),
        ]
        session.output.show(Text(found.name, style="bold"), facts(pairs))
        session.output.show(*(_line(each, say) for each in found.examples))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def test(
    organisation: Organisation, rule: AnyRule = None, language: Language = None, as_json: AsJson = False
) -> None:  # fmt: skip
    """Run the examples of rules; fails when one comes out otherwise."""

    async def work(session: Session, application: Application) -> int:
        rules = await application.rules(Path(organisation))
        chosen = _named(rule, rules) if rule is not None else rules
        failed = sum(not example.ok for each in chosen for example in each.examples)
        count = sum(len(each.examples) for each in chosen)
        session.output.data({"rules": chosen, "examples": count, "failed": failed})
        for each in chosen:
            session.output.show(Text(each.name, style="bold"), *(_line(one, session.say) for one in each.examples))
        session.output.show(session.say("rules-tested", count=count, failed=failed))
        return Exit.FAILED if failed else Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def refused(
    organisation: Organisation,
    last: Annotated[int, typer.Option(min=1, max=200, help="How many, the newest first.")] = 20,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show the actions that rules did not let happen."""

    async def work(session: Session, application: Application) -> int:
        found = await application.refused(Path(organisation), last=last)
        session.output.data(found)
        say = session.say
        if not found.newest:
            session.output.show(say("rules-none-refused"))
            return Exit.DONE
        counts = [[rule, str(count)] for rule, count in sorted(found.counts.items())]
        session.output.show(table([say("rules-name"), say("rules-times")], counts, right=(1,)))
        headings = [say(f"rules-{name}") for name in ("at", "name", "action", "step", "execution")]
        rows = [
            [f"{each.at:%Y-%m-%d %H:%M:%S}", f"{each.rule}@{brief_hash(each.rule_version)}", each.use, each.step,
             str(each.execution_id or "")]
            for each in found.newest
        ]  # fmt: skip
        session.output.show(table(headings, rows))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _named(name: str, rules: Sequence[RuleRow]) -> Sequence[RuleRow]:
    found = [rule for rule in rules if rule.name == name]
    if not found:
        there = ", ".join(rule.name for rule in rules) or "none"
        raise UnknownName(f"There is no rule {name!r}. There are: {there}.", name=name)
    return found


def _scope(rule: RuleRow, say: Say) -> str:
    scope = ", ".join(rule.applies_to) or say("rules-everything")
    return f"{scope} ({', '.join(rule.effects)})" if rule.effects else scope


def _check(rule: RuleRow, say: Say) -> str:
    return say("rules-by-code") if rule.allow_when is not None else say("rules-told-only")


def _breach(rule: RuleRow, say: Say) -> str:
    return say(f"rules-breach-{rule.breach.replace('_', '-')}") if rule.breach else say("rules-unsaid")


def _passed(rule: RuleRow) -> str:
    return f"{sum(each.ok for each in rule.examples)}/{len(rule.examples)}"


def _line(example: RuleExample, say: Say) -> Text:
    mark = ("  ✓ ", "green") if example.ok else ("  ✗ ", "red")
    word = say("rules-lets-pass" if example.allowed else "rules-refuses")
    line = Text.assemble(mark, example.use, "  ", (word, "dim"), f"  {example.why}")
    return line if example.ok else line.append(f"  {example.fault}", style="red")
