"""`silicon contracts`: the contracts as JSON Schema."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from console.cli.exits import Exit
from console.cli.options import AsJson, Language, command
from console.cli.session import Session, conduct_alone
from console.errors import FolderNotMade, UnknownName
from contracts.schemas import ALL, json_schema

app = command("Export the contracts as JSON Schema.")


@app.callback()
def contracts() -> None:
    """Export the contracts as JSON Schema."""


@app.command()
def export(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[CONTRACT…]", help="Which ones; else all.", show_default=False)
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Write a file for each, in the place of standard output.", show_default=False
        ),
    ] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Write the JSON Schema of each contract. It is draft 2020-12, versioned by its `$id`."""

    def work(session: Session) -> int:
        known = {contract.__name__: contract for contract in ALL}
        for name in names or ():
            if name not in known:
                raise UnknownName(f"There is no contract {name!r}. There are: {', '.join(known)}.", name=name)
        schemas = {name: json_schema(known[name]) for name in names or known}
        if to is None:
            sys.stdout.write(json.dumps(schemas, ensure_ascii=False, indent=2) + "\n")
            return Exit.DONE
        folder = Path(to)
        files = [folder / f"{name}.schema.json" for name in schemas]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file, schema in zip(files, schemas.values(), strict=True):
                file.write_text(json.dumps(schema, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise FolderNotMade(f"{folder} cannot be written: {error.strerror or error}.", folder=to) from error
        session.output.data({"files": files})
        session.output.show(Text(session.say("contracts-written", count=len(files), folder=folder)))
        return Exit.DONE

    conduct_alone(work, as_json=as_json, language=language)
