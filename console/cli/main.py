"""The entry of `silicon`: which commands there are, loaded only when one is called."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from console.cli.unwritten import AnswerNotWritten
from console.cli.visible import visible, visible_json
from runtime.garbage import look_rarely, pass_over_the_start

COMMANDS: dict[str, tuple[str, str, str]] = {
    "init": ("Organisations", "console.cli.commands.init", "Make a small organisation that works."),
    "check": ("Organisations", "console.cli.commands.check", "Find the faults of an organisation folder."),
    "metrics": ("Organisations", "console.cli.commands.metrics", "List metrics, show their values."),
    "sensors": ("Organisations", "console.cli.commands.sensors", "List sensors, let them look."),
    "heartbeat": ("Organisations", "console.cli.commands.heartbeat", "Show what an organisation does by itself."),
    "rules": ("Organisations", "console.cli.commands.rules", "List rules, run their examples."),
    "alerts": ("Organisations", "console.cli.commands.alerts", "List alerts, take them on, silence them."),
    "attention": ("Organisations", "console.cli.commands.attention", "Show which alerts come first, and why."),
    "memory": ("Organisations", "console.cli.commands.memory", "See what is remembered, and look after it."),
    "products": ("Organisations", "console.cli.commands.products", "Find what work delivered, and its lineage."),
    "run": ("Work", "console.cli.commands.run", "Hand a goal to an organisation."),
    "resume": ("Work", "console.cli.commands.resume", "Go on with an execution where it stood."),
    "cancel": ("Work", "console.cli.commands.cancel", "Cancel an execution and all below it."),
    "runs": ("Work", "console.cli.commands.runs", "List executions, newest first."),
    "show": ("Work", "console.cli.commands.show", "Show an execution: every step, number and source."),
    "costs": ("Work", "console.cli.commands.costs", "Show what work cost, and what it may cost."),
    "events": ("Work", "console.cli.commands.events", "Show what the ledger holds, and follow it."),
    "approvals": ("Decisions", "console.cli.commands.approvals", "List, show and decide cards."),
    "calibration": ("Decisions", "console.cli.commands.calibration", "Hold promises against what happened."),
    "answer": ("Decisions", "console.cli.commands.answer", "Answer a question that an execution waits for."),
    "up": ("System", "console.cli.commands.up", "Run the server: executions and the HTTP API."),
    "cluster": ("System", "console.cli.commands.cluster", "Show and steer nodes, slots and waiting orders."),
    "users": ("System", "console.cli.commands.users", "See to the people who log in: passwords, locks, tokens."),
    "tokens": ("System", "console.cli.commands.tokens", "Make, list and revoke tokens of the HTTP API."),
    "deliveries": ("System", "console.cli.commands.deliveries", "See to messages by webhook and e-mail."),
    "dead-letters": ("System", "console.cli.commands.dead_letters", "See to events that a group could not handle."),
    "settings": ("System", "console.cli.commands.settings", "Show every setting, its source and meaning."),
    "audit": ("System", "console.cli.commands.audit", "Verify that the ledger was not altered."),
    "evidence": ("System", "console.cli.commands.evidence", "Prove what was done and seen."),
    "contracts": ("System", "console.cli.commands.contracts", "Export the contracts as JSON Schema."),
    "db": ("System", "console.cli.commands.db", "Upgrade, back up, restore and prune the database."),
    "export": ("System", "console.cli.commands.export", "Write one execution into one file."),
    "import": ("System", "console.cli.commands.import_", "Take an exported execution in, to look at it."),
    "doctor": ("System", "console.cli.commands.doctor", "Look for what is broken."),
}
"""Command → where it stands in the help, its module, what it does. Help is made of this table alone."""


class Commands(TyperGroup):
    """The group of all commands; a command's module is imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command, or None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command = typer.main.get_command(import_module(COMMANDS[cmd_name][1]).app)
        pass_over_the_start()
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of `args`; the names it is compared with for a hint are those of the table."""
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, a section each, without importing one of them."""
        for section in dict.fromkeys(section for section, _, _ in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl([(name, help_) for name, (place, _, help_) in COMMANDS.items() if place == section])


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failed, 2 usage, 3 waiting for a decision.",
)


@app.callback()
def silicon() -> None:
    """Hand business processes to a tree of silicon employees, and rely on the result."""


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    look_rarely()
    sys.exit(main(sys.argv[1:] if arguments is None else arguments))


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a terminal that has no sign for a letter still shows the rest
    broken = next((each for each in arguments if not _is_text(each)), None)
    if broken is not None:
        return _told(f"{broken!r} holds bytes that are no text (UTF-8).", as_json="--json" in arguments)
    command = typer.main.get_command(app)
    try:
        code = command.main(list(arguments), prog_name="silicon", standalone_mode=False)
    except TyperException as error:
        return _misused(error, as_json="--json" in arguments)
    except typer.Abort:
        return 1
    except BrokenPipeError:
        _leave_standard_output()  # whoever read has seen enough
        return 1
    except AnswerNotWritten as error:
        _leave_standard_output()
        print(f"The answer could not be written: {error.strerror}. What was done is done.", file=sys.stderr)
        return 1
    return code if isinstance(code, int) else 0


def _leave_standard_output() -> None:
    """Let nothing more be written there, also not by Python at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_text(argument: str) -> bool:
    """Whether the bytes that were typed could be decoded; those that could not stand as lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in argument)


def _told(message: str, *, as_json: bool) -> int:
    """Say what was wrong with the arguments themselves; return the exit code of usage."""
    if as_json:
        print(_usage_json(message))
    else:
        print(visible(message), file=sys.stderr)
    return 2


def _usage_json(message: str) -> str:
    return visible_json(json.dumps({"error": {"code": "USAGE", "message": message, "facts": {}}}, ensure_ascii=False))


def _misused(error: Any, *, as_json: bool) -> int:
    """Say what was wrong with the command line; return its exit code, which is 2."""
    message = error.format_message()
    if as_json:
        print(_usage_json(message))
    elif message.startswith("Usage:"):
        print(message, file=sys.stderr)  # a group without its command
    else:
        whole = message if message.endswith((".", "?")) else f"{message}."
        print("\n".join(map(visible, whole.split("\n"))), file=sys.stderr)
        context = getattr(error, "ctx", None)
        print(f"`{context.command_path if context else 'silicon'} --help` shows how it is used.", file=sys.stderr)
    return int(error.exit_code)
