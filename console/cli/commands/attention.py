"""`silicon attention`: what would be seen to first, what would not and why, and where sensors look more often."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, At, Language, Organisation, command, moment
from console.cli.render.alerts import headline, hush_word
from console.cli.render.facts import table
from console.cli.session import Session, conduct
from console.cli.words import moment as moment_text
from console.cli.words import seconds
from console.ports import Application

app = command()


@app.command()
def attention(
    organisation: Organisation, at: At = None, language: Language = None, as_json: AsJson = False
) -> None:  # fmt: skip
    """Show which alerts come first and why, which are left out and why, and how often sensors look."""

    async def work(session: Session, application: Application) -> int:
        shown = await application.attention(Path(organisation), at=moment(at))
        output, say = session.output, session.say
        output.data(shown)
        if not shown.order and not shown.left_out:
            output.show(say("attention-none"))
        for number, ranked in enumerate(shown.order, 1):
            parts = " + ".join(f"{say(f'attention-{name}')} {part:.2f}" for name, part in ranked.parts.items())
            output.show(Text.assemble((f"{number}. ", "bold"), headline(ranked.alert, output)))
            output.show(Text(f"   {ranked.score:.2f} = {parts}", style="dim"))
        for out in shown.left_out:
            by = f": {out.by}" if out.by else ""
            output.show(Text.assemble(("– ", "dim"), headline(out.alert, output)))
            output.show(Text(f"   {hush_word(out.why, output)}{by}", style="dim"))
        if shown.rates:
            headings = [say(f"attention-{name}") for name in ("sensor", "looks-every", "because", "since")]
            rows = [
                [rate.sensor, seconds(rate.every_s), hush_word(rate.because, output),
                 moment_text(rate.since) if rate.since else ""]
                for rate in shown.rates
            ]  # fmt: skip
            output.show(table(headings, rows))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)
