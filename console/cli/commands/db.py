"""`silicon db`: the database as a whole: its schema, copies of it, and what is taken away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import As, AsJson, Language, command
from console.cli.output import Output
from console.cli.render.facts import facts, table
from console.cli.render.kept import backup_lines, hold_data, pruned_data, pruned_lines
from console.cli.session import Session, conduct, find_id
from console.cli.words import moment
from console.ports import Application
from console.views_system import DatabaseStatus
from contracts import ExecutionId

app = command("Upgrade, back up, restore and prune the database.", alone="status")
File = Annotated[str, typer.Argument(metavar="FILE", help="The file of the backup.")]
Execution = Annotated[
    str, typer.Argument(metavar="EXECUTION", help="The execution; its first or last letters suffice.")
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is written to the ledger.")]


@app.command()
def status(language: Language = None, as_json: AsJson = False) -> None:
    """Show which database this is, and its schema. Exit code 1 when that is not the program's."""

    async def work(session: Session, application: Application) -> int:
        found = await application.database()
        _show(found, session.output)
        return Exit.DONE if found.current else Exit.FAILED

    conduct(work, as_json=as_json, language=language)


@app.command()
def upgrade(language: Language = None, as_json: AsJson = False) -> None:
    """Bring the schema to this program's version. Doing it twice does nothing."""

    async def work(session: Session, application: Application) -> int:
        _show(await application.upgrade(), session.output)
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def backup(file: File, language: Language = None, as_json: AsJson = False) -> None:
    """Copy the whole ledger into a new file, and audit it. Runs go on meanwhile; exit code 1 where it has faults."""

    async def work(session: Session, application: Application) -> int:
        made = await application.back_up(Path(file))
        session.output.data(made)
        session.output.show(*backup_lines(made, session.say))
        return Exit.FAILED if made.faults else Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def restore(file: File, language: Language = None, as_json: AsJson = False) -> None:
    """Put a backup into the database of the settings. That has to be empty; all of it is put there, or nothing."""

    async def work(session: Session, application: Application) -> int:
        restored = await application.restore(Path(file))
        session.output.data(restored)
        said = session.say("restore-done", file=file, address=restored.address, events=restored.position)
        session.output.show(Text.assemble(("✓ ", "green"), said))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def prune(
    *,
    days: Annotated[
        float | None,
        typer.Option(
            "--days", min=0, metavar="N", help="Keep what ended later; else retention.executions_days. 0 keeps all."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would go.", show_default=False)] = False,
    compact: Annotated[
        bool,
        typer.Option("--compact", help="Make an embedded file smaller; others wait meanwhile.", show_default=False),
    ] = False,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Take away for good what ended long ago. What nothing else names goes with it, and the audit stays clean."""

    async def work(session: Session, application: Application) -> int:
        pruned = await application.prune(days=days, dry=dry_run, compact=compact)
        kept = session.settings.retention.executions_days if days is None else days
        session.output.data(pruned_data(pruned, dry=dry_run))
        session.output.show(*pruned_lines(pruned, session.say, dry=dry_run, days=kept))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def hold(
    execution: Execution, reason: Reason, as_: As = None, language: Language = None, as_json: AsJson = False
) -> None:
    """Keep an execution whole, however old it grows. That holds until the hold is released."""

    async def work(session: Session, application: Application) -> int:
        execution_id = await find_id(application, ExecutionId, execution)
        placed = await application.hold(execution_id, reason=reason, by=as_)
        session.output.data(hold_data(placed))
        said = session.say("hold-placed", execution=execution_id, by=placed.by)
        session.output.show(Text.assemble(("✓ ", "green"), said))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def release(
    execution: Execution, reason: Reason, as_: As = None, language: Language = None, as_json: AsJson = False
) -> None:
    """End the hold of an execution, so that it may be pruned again."""

    async def work(session: Session, application: Application) -> int:
        execution_id = await find_id(application, ExecutionId, execution)
        released = await application.release(execution_id, reason=reason, by=as_)
        session.output.data(hold_data(released))
        said = session.say(
            "hold-released", execution=execution_id, by=released.by, at=moment(released.at), reason=released.reason
        )
        session.output.show(Text.assemble(("✓ ", "green"), said))
        return Exit.DONE

    conduct(work, as_json=as_json, language=language)


@app.command()
def holds(language: Language = None, as_json: AsJson = False) -> None:
    """List the holds that stand."""

    async def work(session: Session, application: Application) -> int:
        standing, say = await application.holds(), session.say
        session.output.data({"holds": [hold_data(each) for each in standing]})
        if not standing:
            session.output.show(say("holds-none"))
            return Exit.DONE
        rows = [(str(each.execution_id), each.by, moment(each.at), each.reason) for each in standing]
        headings = [say(key) for key in ("card-execution", "hold-by", "hold-since", "hold-reason")]
        session.output.show(table(headings, rows))
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
