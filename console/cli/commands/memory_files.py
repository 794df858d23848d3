"""`silicon memory export | import`: memories in Markdown files that people read and edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.cli.exits import Exit
from console.cli.options import As, AsJson, Language, Organisation
from console.cli.render.memory_files import taken_files, written_files
from console.cli.session import Session, conduct
from console.ports import Application


def register(app: typer.Typer) -> None:
    """Give the group its commands about files."""
    app.command("export")(export)
    app.command("import")(import_)


def export(
    organisation: Organisation,
    *,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Also over edits that nobody imported: they are lost.")
    ] = False,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Write memories into Markdown files.

    They are to be read and edited, and lie below memory/ of the home folder. Files with edits that were not imported
    are left alone: exit code 3.
    """

    async def work(session: Session, application: Application) -> int:
        written = await application.export_memories(Path(organisation), by=as_, overwrite=overwrite)
        session.output.data(written)
        session.output.show(*written_files(written, session.output))
        return Exit.WAITING if written.edited else Exit.DONE

    conduct(work, as_json=as_json, language=language)


def import_(
    organisation: Organisation,
    *,
    withdraw_missing: Annotated[
        bool, typer.Option("--withdraw-missing", help="Forget memories that were taken out of their file.")
    ] = False,
    as_: As = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Take in what was edited in the files.

    Entries that have faults, or whose memory moved on, are shown with file and line and left alone: exit code 1. The
    same files again change nothing.
    """

    async def work(session: Session, application: Application) -> int:
        taken = await application.import_memories(Path(organisation), by=as_, withdraw_missing=withdraw_missing)
        session.output.data(taken)
        session.output.show(*taken_files(taken, session.output))
        if taken.counts.get("fault") or taken.counts.get("conflict"):
            return Exit.FAILED
        return Exit.WAITING if taken.counts.get("disputed") else Exit.DONE

    conduct(work, as_json=as_json, language=language)
