"""`silicon calibration`: what was promised on cards against what happened, and what labels are worth after that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from console.cli.exits import Exit
from console.cli.form import to_data
from console.cli.options import AsJson, At, Language, Organisation, command, moment
from console.cli.render.expected import in_unit
from console.cli.render.facts import table
from console.cli.session import Session, conduct
from console.cli.words import command_line
from console.ports import Application
from console.views_calibration import LabelRow, PromiseRow
from runtime.texts import Say

app = command("Hold what was promised against what happened.")


@app.command()
def show(organisation: Organisation, language: Language = None, as_json: AsJson = False) -> None:
    """Show how often each label of confidence came true."""

    async def work(session: Session, application: Application) -> int:
        found, say = await application.calibration(Path(organisation)), session.say
        session.output.data({
            "organisation": found.organisation, "labels": to_data(found.labels), "brier": found.brier,
            "promises": to_data(found.promises), "gaps": to_data(found.gaps),
        })  # fmt: skip
        if not found.promises:
            session.output.show(say("calibration-none"))
        else:
            session.output.show(_labels(found.labels, say))
            if found.brier is not None:
                session.output.show(Text(say("calibration-brier", brier=f"{found.brier:.3f}")))
            session.output.show(*_promises(found.promises, say))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def judge(organisation: Organisation, at: At = None, language: Language = None, as_json: AsJson = False) -> None:
    """Judge the promises whose period is over.

    Labels are corrected by it, and skills proposed for what fails again and again. Each promise is judged once.
    """

    async def work(session: Session, application: Application) -> int:
        done, say = await application.evaluate(Path(organisation), at=moment(at)), session.say
        session.output.data({
            "at": done.at.isoformat(), "judged": to_data(done.judged), "waiting": done.waiting,
            "changed": [{"label": label.value, "shown": shown.value} for label, shown in done.changed],
            "not_read": [{"card": str(card), "why": why} for card, why in done.not_read],
            "proposed": [str(card) for card in done.proposed],
        })  # fmt: skip
        session.output.show(Text(say("calibration-judged", judged=len(done.judged), waiting=done.waiting)))
        session.output.show(*_promises(done.judged, say))
        for label, shown in done.changed:
            session.output.show(Text(say("calibration-changed", label=label.value, shown=shown.value)))
        for card in done.proposed:
            session.output.show(Text(say("calibration-proposed", command=command_line("approvals", "show", str(card)))))
        for card, why in done.not_read:
            session.output.show(Text(f"  {card}  {why}", style="red"))
        return Exit.FAILED if done.not_read else Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def gaps(organisation: Organisation, language: Language = None, as_json: AsJson = False) -> None:
    """Show what fails again and again, with a skill's draft."""

    async def work(session: Session, application: Application) -> int:
        found, say = (await application.calibration(Path(organisation))).gaps, session.say
        session.output.data({"gaps": to_data(found)})
        if not found:
            session.output.show(say("calibration-no-gaps"))
        for gap in found:
            cases = say("calibration-cases", cases=len(gap.cases))
            session.output.show(Text.assemble((gap.about, "bold"), f"  {cases}  {gap.state}  {gap.card}"))
            session.output.show(Text(gap.draft, style="dim"))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _labels(rows: Sequence[LabelRow], say: Say) -> RenderableType:
    names = ("skill", "label", "promised", "came-true", "interval", "judged-count", "shown")
    cells: list[list[str | Text]] = [
        [
            row.skill or "–",
            say(f"confidence-{row.label.value}"),
            f"{100 * row.promised:.0f} %",
            "–" if row.share is None else f"{100 * row.share:.0f} %",
            "–" if row.low is None or row.high is None else f"{100 * row.low:.0f}–{100 * row.high:.0f} %",
            f"{row.n} + {row.inconclusive} ?" if row.inconclusive else str(row.n),
            say(f"confidence-{row.shown.value}"),
        ]
        for row in rows
    ]
    return table([say(f"calibration-{name}") for name in names], cells, right=(2, 3, 4, 5))


def _promises(rows: Sequence[PromiseRow], say: Say) -> list[Text]:
    told = []
    for row in rows:
        expected = row.expectation
        mark = {"kept": ("✓ ", "green"), "broken": ("✗ ", "red")}.get(row.kept, ("? ", "yellow"))
        low, high, change = (
            in_unit(number, expected.unit, signed=True) for number in (expected.low, expected.high, row.change)
        )
        what = say(f"calibration-why-{row.why.replace('_', '-')}") if row.why else change
        facts = {"metric": expected.metric, "period": expected.period, "low": low, "high": high, "what": what}
        told.append(
            Text.assemble(
                "  ", mark,
                say("calibration-promise", **facts),
                (f"  {row.card}", "dim"),
            )
        )  # fmt: skip
    return told
