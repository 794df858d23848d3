"""Errors as people see them: what happened and how to mend it, never a traceback."""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path

from rich.text import Text

from console.cli.exits import Exit
from console.cli.output import Output
from console.cli.words import command_line, moment
from console.texts import UnknownText
from runtime.errors import InvalidArguments, NoOrganisation, NotFound, SiliconError

_TOLD_AT = {"ORGANISATION_FAULTY": -1}
"""Line of a message that sums it up, where that is not the first; what stands in the others was written by others."""


def tell(error: SiliconError, output: Output) -> Exit:
    """Show an error that was foreseen; return the exit code."""
    output.data({"error": {"code": error.code, "message": error.message, "facts": error.facts}})
    if not output.as_json:
        lines = error.message.split("\n")
        told = _said(error, output)
        if told is not None:
            lines[_TOLD_AT.get(error.code, 0)] = told
        first, *rest = lines
        output.note(Text.assemble(("✗ ", "red"), first), *(Text(f"  {line}") for line in rest))
        output.note(Text(f"  {error.code}", style="dim"))
    return Exit.USAGE if isinstance(error, InvalidArguments | NotFound | NoOrganisation) else Exit.FAILED


def _said(error: SiliconError, output: Output) -> str | None:
    """Return the line that sums an error up in the language of the answer, or None to leave it as it is, in English.

    The catalogue has texts for the frequent codes. A list of facts is given joined, with its length as `NAME-count`.
    """
    if output.language == "en":
        return None
    facts: dict[str, object] = {}
    for name, value in error.facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        facts[name] = "—" if shown in (None, "") else _moment(shown) if name in ("at", "until") else shown
        if isinstance(value, list):
            facts[f"{name}-count"] = len(value)
    try:
        return output.say(f"error-{error.code.lower().replace('_', '-')}", **facts)
    except UnknownText:  # no text for this code, or this error does not know all that the text tells
        return None


def _moment(value: object) -> str:
    try:
        return moment(datetime.fromisoformat(str(value)))
    except ValueError:
        return str(value)


def tell_unexpected(error: BaseException, output: Output, log: Path) -> Exit:
    """Put the traceback into the log and say where it is; return the exit code."""
    logging.getLogger("console").error("unexpected error", exc_info=error)
    message = output.say("error-unexpected", log=log)
    output.data({"error": {"code": "UNEXPECTED", "message": message, "facts": {"log": str(log)}}})
    if not output.as_json:
        output.note(Text.assemble(("✗ ", "red"), message))
    return Exit.FAILED


def tell_interrupted(output: Output, execution_id: str | None) -> Exit:
    """Say that Ctrl-C ended the command and how to go on; return the exit code."""
    if execution_id is None:
        message, facts = output.say("interrupted"), {}
    else:
        command = command_line("resume", execution_id)
        message = output.say("interrupted-resumable", command=command)
        facts = {"execution_id": execution_id, "command": command}
    output.data({"error": {"code": "INTERRUPTED", "message": message, "facts": facts}})
    if not output.as_json:
        output.note(Text(message))
    return Exit.FAILED


def unwrap(error: BaseException) -> BaseException:
    """Return the one error inside groups of one, as task groups raise them."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
