"""`silicon db`: which database, and its schema."""

from __future__ import annotations

from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.output import Output
from console.cli.render.facts import facts
from console.cli.session import Session, conduct
from console.ports import Application
from console.views import DatabaseStatus

app = command("Show or upgrade the database schema.")


@app.command()
def status(language: Language = None, as_json: AsJson = False) -> None:
    """Show which database this is and whether its schema is the program's; exit code 1 when it is not."""

    async def work(session: Session, application: Application) -> int:
        found = await application.database()
        _show(found, session.output)
        return Exit.DONE if found.current else Exit.FAILED

    conduct(work, as_json=as_json, language=language)


@app.command()
def upgrade(language: Language = None, as_json: AsJson = False) -> None:
    """Bring the schema to this program's version; doing it twice does nothing."""

    async def work(session: Session, application: Application) -> int:
        _show(await application.upgrade(), session.output)
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


def _show(found: DatabaseStatus, output: Output) -> None:
    say = output.say
    output.data(
        {"address": found.address, "revision": found.revision, "newest": found.newest, "current": found.current}
    )
    sign, style, key = ("✓ ", "green", "db-current") if found.current else ("✗ ", "red", "db-not-current")
    output.show(
        Text.assemble((sign, style), say(key)),
        facts(
            [
                (say("db-address"), found.address),
                (say("db-revision"), found.revision or say("db-no-tables")),
                (say("db-newest"), found.newest),
            ]
        ),
    )
