"""`silicon settings`: every setting, its value, where it came from, and what it means."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.render.facts import facts, table
from console.cli.session import Session, conduct_alone
from console.errors import UnknownName
from runtime.settings.rows import Row, markdown, rows

app = command()


@app.command()
def settings(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A setting or a group: ledger.", show_default=False)
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only those that are not at their default.", show_default=False)
    ] = False,
    as_page: Annotated[bool, typer.Option("--markdown", help="The page docs/settings.md.", show_default=False)] = False,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Show settings: value, source, default, meaning. Secrets are never printed."""

    def work(session: Session) -> int:
        if as_page:
            sys.stdout.write(markdown())
            return Exit.DONE
        shown = _chosen(rows(session.settings), name, changed=changed)
        output, say = session.output, session.say
        output.data({"home": str(session.settings.home), "settings": shown})
        if name is not None and len(shown) == 1:
            (row,) = shown
            pairs = [(say(f"settings-{part}"), _text(getattr(row, part))) for part in ("value", "source", "default")]
            output.show(Text.assemble((row.name, "bold"), "  ", (row.variable, "dim")), Text(f"  {row.meaning}"))
            output.show(facts(pairs))
            return Exit.DONE
        if not shown:
            output.show(say("settings-all-default"))
            return Exit.DONE
        headings = [say(f"settings-{part}") for part in ("name", "value", "source", "default", "meaning")]
        output.show(table(headings, [_line(row) for row in shown]))
        return Exit.DONE

    conduct_alone(work, as_json=as_json, language=language)


def _chosen(all_: list[Row], name: str | None, *, changed: bool) -> list[Row]:
    shown = [row for row in all_ if not changed or row.source not in ("default", "home folder")]
    if name is None:
        return shown
    found = [row for row in shown if name in (row.name, row.variable) or row.name.startswith(f"{name}.")]
    if not found and not changed:
        groups = dict.fromkeys(row.name.partition(".")[0] for row in all_)
        raise UnknownName(f"There is no setting {name!r}. Groups: {', '.join(groups)}.", name=name)
    return found


def _line(row: Row) -> list[str | Text]:
    quiet = "dim" if row.source == "default" else ""
    return [
        row.name,
        Text(_text(row.value), style=quiet),
        Text(row.source, style=quiet),
        Text(_text(row.default), style="dim"),
        row.meaning,
    ]


def _text(value: object) -> str:
    return "—" if value in ("", None) else str(value)
