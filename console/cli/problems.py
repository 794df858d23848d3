"""Errors as people see them: what happened and how to mend it, never a traceback."""

from __future__ import annotations

from pathlib import Path

import structlog
from rich.text import Text

from console.cli.exits import Exit
from console.cli.output import Output
from console.cli.words import command_line
from runtime.errors import InvalidArguments, NotFound, SiliconError


def tell(error: SiliconError, output: Output) -> Exit:
    """Show an error that was foreseen; return the exit code."""
    output.data({"error": {"code": error.code, "message": error.message, "facts": error.facts}})
    if not output.as_json:
        first, *rest = error.message.splitlines() or [error.code]
        output.note(Text.assemble(("✗ ", "red"), first), *(Text(f"  {line}") for line in rest))
        output.note(Text(f"  {error.code}", style="dim"))
    return Exit.USAGE if isinstance(error, InvalidArguments | NotFound) else Exit.FAILED


def tell_unexpected(error: BaseException, output: Output, log: Path) -> Exit:
    """Put the traceback into the log and say where it is; return the exit code."""
    structlog.get_logger("console").error("unexpected error", exc_info=error)
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
